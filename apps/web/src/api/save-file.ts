/** Saving an answer as a file: with the token in a header, so that it stands in no address and no log. */
import { send } from './client.ts';

/** @throws ApiError. */
export async function download(path: string, fallbackName: string): Promise<void> {
  const response = await send(path);
  const named = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  saveFile(await response.blob(), named ?? fallbackName);
}

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by the next task; a minute is ample.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
