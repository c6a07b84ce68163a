const { TMPDIR } = process.env

/** What every program that a test starts needs of this machine. The home folder is empty: `vitest.config.mts` makes it. */
export const machine = {
  PATH: process.env['PATH']!,
  HOME: process.env['HOME']!,
  ...(TMPDIR !== undefined && { TMPDIR }),
}
