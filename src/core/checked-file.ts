import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'

/** The id of this user; undefined on Windows, which has no such owners or modes. */
const self = process.getuid?.()

export const isForeign = ({ uid }: Pick<Stats, 'uid'>): boolean => self !== undefined && uid !== self

/** Whether others have one of these permissions: `0o077` for any, `0o022` to write. */
export const isOpenTo = ({ mode }: Pick<Stats, 'mode'>, bits: number): boolean =>
  self !== undefined && (mode & bits) !== 0

/** The text of a file, after `check` has accepted the open file. It follows no link and waits for no pipe. */
export const readChecked = (path: string, check: (stats: Stats) => void): string => {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    check(fstatSync(fd))
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}
