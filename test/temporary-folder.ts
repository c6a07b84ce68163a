import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder. The caller removes it. */
export const temporaryFolder = (): { path: string; remove(this: void): void } => {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
