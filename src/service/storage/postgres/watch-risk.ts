import { riskOf, type Facts, waitsForStandby } from './facts.ts'

export type Report = (message: string, level?: 'warn') => void

/** What an operator should know about the database while nodes run; undefined if there is nothing. */
const problemOf = (facts: Facts): string | undefined => {
  if (facts.between !== null)
    return `Something that svc did not make can hide or change its rows: ${facts.between}`
  const risk = riskOf(facts)
  if (waitsForStandby(facts)) return 'No synchronous standby is connected: writes wait until one is'
  return risk === undefined ? undefined : `The database can lose data: ${risk}`
}

/**
 * Reports a problem with the replication when it begins, when it changes, and when it is over; so also a database that does not
 * answer. `known` are the facts at the
 * start. `latest` are those of the last look.
 */
export const watchRisk = (
  known: Facts,
  read: () => Promise<Facts>,
  { report, everyMs = 10_000 }: { report: Report; everyMs?: number | undefined },
): { stop(): void; latest(): Facts } => {
  let latest = known
  let last: string | undefined
  const compare = (facts: Facts): void => {
    latest = facts
    const problem = problemOf(facts)
    if (problem === last) return
    last = problem
    if (problem === undefined) report('The database keeps every acknowledged write again')
    else report(problem, 'warn')
  }
  compare(known)
  let busy = false
  let isAway = false
  const look = async (): Promise<void> => {
    if (busy) return
    busy = true
    try {
      compare(await read())
      if (isAway) report('The database answers again')
      isAway = false
    } catch {
      if (!isAway) report('The database does not answer', 'warn')
      isAway = true
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void look(), everyMs).unref()
  return { stop: () => clearInterval(timer), latest: () => latest }
}
