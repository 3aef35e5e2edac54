/**
 * One server process per data folder: `server.lock` holds its pid and the time that process began. A lock whose
 * process is gone is taken over; that of a live one never, however long it has been silent.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

interface Holder {
  pid: number;
  /** Start time of the process as the kernel tells it, so that a reused pid is not taken for the holder. */
  began: string;
}

function processBegan(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null;
  }
  try {
    // Field 22 of /proc/<pid>/stat; the command name before it may hold spaces, but ends with the last ')'.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie holds nothing any more.
    return fields[0] === 'Z' ? null : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/** @throws Error naming the holder. @returns a function that gives the lock back. */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'server.lock');
  const mine: Holder = { pid: process.pid, began: processBegan(process.pid) ?? '' };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const fd = openSync(path, 'wx');
      writeSync(fd, JSON.stringify(mine));
      closeSync(fd);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    const began = holder && processBegan(holder.pid);
    if (holder && began !== null && (began === '' || began === holder.began)) {
      throw new Error(
        `${folder} is in use by the server with process id ${holder.pid}. Stop that one, or set DATA_DIR to another folder.`,
      );
    }
    rmSync(path, { force: true });
  }
  throw new Error(`${path} could not be taken`);
}

function readHolder(path: string): Holder | null {
  try {
    const { pid, began } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    // A lock that names nobody holds nothing.
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return null;
    return { pid, began: began ?? '' };
  } catch {
    return null;
  }
}
