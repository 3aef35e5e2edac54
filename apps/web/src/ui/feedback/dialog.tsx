import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { IconButton } from '../form/icon-button.tsx';

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons at the foot, the safe one first. */
  actions?: ReactNode;
}

/** A modal dialog: focus is kept inside and given back, Escape closes. */
export function Dialog({ open, onOpenChange, title, description, children, actions }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className="fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-xl border border-line bg-surface p-5 shadow-xl"
        >
          <div className="mb-2 flex items-start justify-between gap-3">
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton icon={X} label="Close" className="-mt-1 -mr-1" />
            </Radix.Close>
          </div>
          {description !== undefined && (
            <Radix.Description className="text-muted">{description}</Radix.Description>
          )}
          {children}
          {actions !== undefined && <div className="mt-5 flex flex-wrap justify-end gap-2">{actions}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
