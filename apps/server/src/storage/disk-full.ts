import { ProblemError } from '@tabweave/shared';

const fileCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** SQLITE_FULL */
const sqliteFull = 13;

/** Whether an error of files or of SQLite means that there is no room left. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof ProblemError) return error.code === 'STORAGE_FULL';
  const { code, errcode } = error as { code?: string; errcode?: number };
  return (code !== undefined && fileCodes.has(code)) || errcode === sqliteFull;
}
