import { useId } from 'react';

/** A radio button as a card. */
export function ChoiceCard({
  group,
  title,
  description,
  checked,
  onChoose,
}: {
  group: string;
  title: string;
  description: string;
  checked: boolean;
  onChoose: () => void;
}) {
  const id = useId();
  return (
    <div className="relative flex gap-3 rounded-lg border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent hover:border-control">
      <input
        id={id}
        type="radio"
        name={group}
        className="relative z-10 mt-1 size-4 shrink-0 accent-accent outline-none"
        checked={checked}
        aria-describedby={`${id}-description`}
        onChange={onChoose}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="font-medium after:absolute after:inset-0">
          {title}
        </label>
        <p id={`${id}-description`} className="text-sm text-muted">
          {description}
        </p>
      </div>
    </div>
  );
}
