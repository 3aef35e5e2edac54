/** Multipart upload with progress, which `fetch` cannot report. */
import { ApiError, toApiError, unreachable } from './api-error.ts';
import { currentSession, endSession } from './session.ts';

/**
 * @param onProgress called with the share that has been sent, 0 to 1.
 * @returns the answer's JSON. @throws ApiError.
 */
export function upload(
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    const session = currentSession();
    call.open('POST', `/api/v1${path}`);
    call.responseType = 'json';
    if (session) call.setRequestHeader('authorization', `Bearer ${session.token}`);
    call.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    call.onload = () => {
      if (call.status >= 200 && call.status < 300) return resolve(call.response);
      if (call.status === 401 && session) endSession(true);
      reject(toApiError(call.status, call.response));
    };
    call.onerror = () => reject(unreachable());
    call.onabort = () => reject(new ApiError(0, 'Cancelled', 'The upload was cancelled.'));
    signal.addEventListener('abort', () => call.abort(), { once: true });
    call.send(form);
  });
}
