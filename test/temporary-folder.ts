import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder. The caller removes it: while a program that was stopped still writes its last file, again. */
export const temporaryFolder = (): { path: string; remove(this: void): void } => {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'))
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  }
}
