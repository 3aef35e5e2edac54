/** The life of one uPlot instance inside an element: made, fed, resized, recoloured, destroyed. */
import { useEffect, useRef, useState, type RefObject } from 'react';
import uPlot from 'uplot';
import { plotOptions, type PlotSettings } from './plot-options.ts';

export interface Plot {
  host: RefObject<HTMLDivElement | null>;
  /** Index under the pointer; null away from the chart. */
  cursor: number | null;
  zoomed: boolean;
  resetZoom: () => void;
}

type Options = Omit<PlotSettings, 'onCursor' | 'onZoom'>;

/** @param data x and then one array per series; values that cannot be drawn are null. */
export function usePlot(options: Options, data: uPlot.AlignedData, height: number): Plot {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ options, data });
  const [cursor, setCursor] = useState<number | null>(null);
  const [zoomed, setZoomed] = useState(false);
  /** The same, for fresh data, which must not wait for a rendering. */
  const keepsRange = useRef(false);
  useEffect(() => {
    latest.current = { options, data };
  });

  // Only what shapes the plot makes a new one; fresh data is fed to the one that is there.
  const shape = JSON.stringify([options.series.map(shapeOf), options.logScale, options.timeAxis]);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const first = latest.current;
    const settings: PlotSettings = {
      ...first.options,
      formatX: (x) => latest.current.options.formatX(x),
      formatTick: (y) => latest.current.options.formatTick(y),
      onCursor: setCursor,
      onZoom: () => {
        keepsRange.current = true;
        setZoomed(true);
      },
    };
    const made = new uPlot(plotOptions(settings, element.clientWidth, height), first.data, element);
    plot.current = made;
    const reset = (): void => {
      keepsRange.current = false;
      setZoomed(false);
    };
    made.over.addEventListener('dblclick', reset);
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const recolour = (): void => made.redraw(false);
    scheme.addEventListener('change', recolour);
    return () => {
      scheme.removeEventListener('change', recolour);
      resized.disconnect();
      made.destroy();
      plot.current = null;
      reset();
    };
  }, [shape, height]);

  useEffect(() => {
    plot.current?.setData(data, !keepsRange.current);
    if (keepsRange.current) plot.current?.redraw();
  }, [data]);

  const resetZoom = (): void => {
    keepsRange.current = false;
    setZoomed(false);
    plot.current?.setData(data, true);
  };
  return { host, cursor, zoomed, resetZoom };
}

function shapeOf({ label, tone, faint, sparse }: Options['series'][number]): unknown[] {
  return [label, tone, faint, sparse];
}
