import { statSync } from 'node:fs'

/**
 * Runs `work` as the owner of a data folder, if root does: the service could not open what root creates there, and the owner
 * could lead root to files elsewhere.
 */
export const asOwner = async <T>(dataDir: string, work: () => Promise<T>): Promise<T> => {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  const { seteuid, setegid } = process
  if (!seteuid || !setegid || process.geteuid?.() !== 0 || !owner || owner.uid === 0) return work()
  const group = process.getegid!()
  setegid(owner.gid)
  seteuid(owner.uid)
  try {
    return await work()
  } finally {
    seteuid(0)
    setegid(group)
  }
}
