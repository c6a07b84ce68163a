/** Whether everything runs, as in `.ci/long`. */
export const isWhole = process.env['SVC_TEST_WHOLE'] === '1'

/** The rows of a slow table that run: those that represent it, or all of them with SVC_TEST_WHOLE=1, as in `.ci/long`. */
export const rowsToRun = <T>(all: readonly T[], represents: (row: T, at: number) => boolean): T[] =>
  all.filter((row, at) => isWhole || represents(row, at))

/**
 * Those of a list that the row at this place of a table tries: all of them with SVC_TEST_WHOLE=1, and else each `apart`-th, so
 * that neighbouring rows try different ones and the whole table tries all.
 */
export const inTurn = <T>(all: readonly T[], row: number, apart: number = all.length): T[] =>
  rowsToRun(all, (_, at) => at % apart === row % apart)
