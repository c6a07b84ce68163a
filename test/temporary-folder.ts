import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder. The caller removes it. */
export const temporaryFolder = (within = tmpdir()): { path: string; remove(this: void): void } => {
  const path = mkdtempSync(join(within, 'svc-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

const memory = '/dev/shm'
const hasMemory = (): boolean => {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 2 ** 30
}
const forStores = hasMemory() ? memory : tmpdir()

/** An empty folder for a store that no test takes from its process. In memory where there is room, because fsync costs nothing there. */
export const storeFolder = (): ReturnType<typeof temporaryFolder> => temporaryFolder(forStores)
