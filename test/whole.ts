export const isWhole = process.env['SVC_TEST_WHOLE'] === '1'

/** The rows of a slow table that run: those that represent it, or all of them with SVC_TEST_WHOLE=1, as in `.ci/long`. */
export const rowsToRun = <T>(all: readonly T[], represents: (row: T, at: number) => boolean): T[] =>
  all.filter((row, at) => isWhole || represents(row, at))
