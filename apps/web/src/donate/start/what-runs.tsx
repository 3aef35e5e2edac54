/** What a volunteer agrees to by pressing Start: short enough to be read. */
import { Cpu, LogOut, Send, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatBytes } from '../format.ts';

/** @param parameters of the model; a gradient is as large as the model, as float32. */
export function WhatRuns({ parameters }: { parameters: number }) {
  return (
    <ul className="space-y-2 text-sm">
      <Point icon={Cpu} name="Runs here:">
        the arithmetic of this model, on your GPU or CPU, in this tab. Only code of this page: a model never
        brings its own.
      </Point>
      <Point icon={Send} name="Is sent:">
        gradients (at most {formatBytes(4 * parameters)} a step), how long they took, and which browser and
        GPU this is. Nothing of yours is read; the text that the model learns from comes to your browser.
      </Point>
      <Point icon={LogOut} name="Ends:">
        when you close the tab, at any moment. Nothing is installed.
      </Point>
    </ul>
  );
}

function Point({ icon: Icon, name, children }: { icon: LucideIcon; name: string; children: ReactNode }) {
  return (
    <li className="flex gap-2.5">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
      <p>
        <strong className="font-medium">{name}</strong> <span className="text-muted">{children}</span>
      </p>
    </li>
  );
}
