import { useMutation, useQueryClient } from '@tanstack/react-query';
import { limits, type Dataset, type TokenizerKind } from '@tabweave/shared';
import { Upload } from 'lucide-react';
import { useRef, useState, type SyntheticEvent } from 'react';
import { ApiError, errorWords } from '../../../api/api-error.ts';
import { uploadDataset } from '../../../api/calls.ts';
import { keys } from '../../../api/keys.ts';
import { Alert, Button, Field, Progress, Select, TextField, controlStyle } from '../../../ui/index.ts';

const tokenizers: { value: TokenizerKind; label: string; hint: string }[] = [
  {
    value: 'character',
    label: 'Characters',
    hint: 'One token per character of the text: small vocabulary, best for small models.',
  },
  { value: 'byte', label: 'Bytes', hint: '256 tokens, one per byte: takes any text and any language.' },
  {
    value: 'huggingface',
    label: 'Hugging Face tokenizer.json',
    hint: 'Your own tokenizer, such as GPT-2’s with 50,257 tokens: large vocabulary, larger model.',
  },
];

export interface UploadFormProps {
  onDone: (dataset: Dataset) => void;
  /** Absent where there is nothing to go back to. */
  onCancel?: () => void;
}

export function UploadForm({ onDone, onCancel }: UploadFormProps) {
  const [file, setFile] = useState<File | null>(null);
  const [tokenizerFile, setTokenizerFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const [license, setLicense] = useState('');
  const [tokenizer, setTokenizer] = useState<TokenizerKind>('character');
  const [percent, setPercent] = useState('10');
  const [sent, setSent] = useState(0);
  const [tried, setTried] = useState(false);
  const abort = useRef<AbortController | null>(null);
  const cache = useQueryClient();
  const sending = useMutation({
    mutationFn: (form: FormData) => {
      abort.current = new AbortController();
      setSent(0);
      return uploadDataset(form, setSent, abort.current.signal);
    },
    onSuccess: async (dataset) => {
      await cache.invalidateQueries({ queryKey: keys.datasets });
      onDone(dataset);
    },
  });

  const share = percent.trim() === '' ? Number.NaN : Number(percent) / 100;
  const wrong = {
    file: fileProblem(file, limits.datasetBytes, 'Choose a text file.'),
    tokenizerFile:
      tokenizer === 'huggingface'
        ? fileProblem(tokenizerFile, limits.tokenizerBytes, 'Choose the tokenizer.json of your tokenizer.')
        : null,
    share: share >= 0 && share <= 0.5 ? null : 'Enter a number from 0 to 50.',
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (file === null || Object.values(wrong).some((problem) => problem !== null)) return;
    // The server reads the parts in order: fields come before files.
    const form = new FormData();
    if (name.trim() !== '') form.set('name', name.trim());
    form.set('license', license);
    form.set('tokenizer', tokenizer);
    form.set('validationFraction', String(share));
    if (tokenizer === 'huggingface' && tokenizerFile) form.set('tokenizerFile', tokenizerFile);
    form.set('file', file);
    sending.mutate(form);
  };
  const serverFields = sending.error instanceof ApiError ? sending.error.fields : [];
  const serverMessage = (path: string): string | null =>
    serverFields.find((field) => field.path === path)?.message ?? null;

  return (
    <form onSubmit={submit} noValidate className="grid gap-4">
      <Field
        label="Text file"
        hint={`UTF-8 text, at most ${limits.datasetBytes / 2 ** 20} MiB.`}
        error={tried || file !== null ? wrong.file : null}
      >
        {(control) => <FileInput control={control} accept="text/*,.txt,.md,.jsonl" onFile={setFile} />}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Name"
          value={name}
          placeholder={file?.name ?? ''}
          maxLength={limits.nameLength}
          error={serverMessage('name')}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Licence or origin"
          value={license}
          placeholder="Public domain"
          maxLength={limits.nameLength}
          error={serverMessage('license')}
          hint="Volunteers see it."
          onChange={(event) => setLicense(event.target.value)}
        />
        <Select
          label="Tokenizer"
          value={tokenizer}
          options={tokenizers}
          hint={tokenizers.find(({ value }) => value === tokenizer)?.hint}
          onChange={setTokenizer}
        />
        <TextField
          label="Held back for validation, %"
          type="number"
          inputMode="decimal"
          min={0}
          max={50}
          value={percent}
          error={wrong.share ?? serverMessage('validationFraction')}
          hint="The end of the text; never trained on."
          onChange={(event) => setPercent(event.target.value)}
        />
      </div>
      {tokenizer === 'huggingface' && (
        <Field label="tokenizer.json" error={tried || tokenizerFile !== null ? wrong.tokenizerFile : null}>
          {(control) => <FileInput control={control} accept=".json" onFile={setTokenizerFile} />}
        </Field>
      )}
      {sending.error && (
        <Alert tone="bad" title={errorWords(sending.error).title}>
          {errorWords(sending.error).detail}
        </Alert>
      )}
      {sending.isPending && (
        <div className="grid gap-1.5">
          <Progress label="Upload" value={sent} max={1} />
          <p role="status" className="text-sm text-muted">
            {sent < 1 ? 'Uploading…' : 'Uploaded; the server is tokenising the text…'}
          </p>
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="primary" icon={Upload} busy={sending.isPending}>
          Upload
        </Button>
        {sending.isPending ? (
          <Button onClick={() => abort.current?.abort()}>Cancel the upload</Button>
        ) : (
          onCancel && <Button onClick={onCancel}>Cancel</Button>
        )}
      </div>
    </form>
  );
}

function fileProblem(file: File | null, limit: number, missing: string): string | null {
  if (file === null) return missing;
  if (file.size === 0) return 'This file is empty.';
  return file.size > limit ? `This file is larger than ${limit / 2 ** 20} MiB; split it.` : null;
}

function FileInput({
  control,
  accept,
  onFile,
}: {
  control: object;
  accept: string;
  onFile: (file: File | null) => void;
}) {
  return (
    <input
      {...control}
      type="file"
      accept={accept}
      className={`${controlStyle} file:mr-3 file:rounded-md file:border-0 file:bg-sunken file:px-3 file:py-1 file:text-text`}
      onChange={(event) => onFile(event.target.files?.[0] ?? null)}
    />
  );
}
