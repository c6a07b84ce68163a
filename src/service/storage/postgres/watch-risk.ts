import { riskOf, type Facts } from './facts.ts'

export type Report = (message: string, level?: 'warn') => void

/** What an operator should know about the replication while nodes run; undefined if there is nothing. */
const problemOf = (facts: Facts): string | undefined => {
  const risk = riskOf(facts)
  if (facts.standby_names !== '' && facts.synchronous_standbys === 0)
    return 'No synchronous standby is connected: writes wait until one is'
  return risk === undefined ? undefined : `The database can lose data: ${risk}`
}

/**
 * Reports a problem with the replication when it begins, when it changes, and when it is over. `known` are the facts at the
 * start. Returns the function that ends the watch.
 */
export const watchRisk = (
  known: Facts,
  read: () => Promise<Facts>,
  { report, everyMs = 10_000 }: { report: Report; everyMs?: number | undefined },
): (() => void) => {
  let last: string | undefined
  const compare = (facts: Facts): void => {
    const problem = problemOf(facts)
    if (problem === last) return
    last = problem
    if (problem === undefined) report('The database keeps every acknowledged write again')
    else report(problem, 'warn')
  }
  compare(known)
  let busy = false
  const look = async (): Promise<void> => {
    if (busy) return
    busy = true
    try {
      compare(await read())
    } catch {
      // A database that cannot be read is noticed, and logged, by what needs it.
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void look(), everyMs).unref()
  return () => clearInterval(timer)
}
