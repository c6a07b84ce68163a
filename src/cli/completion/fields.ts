import { answeredFields } from '../../contract/describe.ts'
import { table } from '../../contract/table.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Candidate } from './offers.ts'

const operations: Operation[] = Object.values(table)

/** The operation whose words these are, flags and arguments among them. */
const operationAt = (words: readonly string[]): Operation | undefined => {
  const at = words.reduce((place, word) => {
    const next = place === '' ? word : `${place} ${word}`
    return operations.some(({ cli }) => cli === next || cli.startsWith(`${next} `)) ? next : place
  }, '')
  return operations.find(({ cli }) => cli === at)
}

/** What can follow `--json` of a command: the fields of its answer that are not yet in `current`, a list with commas. */
export const fieldsAt = (words: readonly string[], current: string): Candidate[] => {
  const operation = operationAt(words)
  if (!operation) return []
  const [, before = ''] = /^((?:[\w.]+,)+)/.exec(current) ?? []
  const there = before.split(',')
  return answeredFields(operation)
    .filter((name) => !there.includes(name))
    .map((name) => ({ value: before + name, about: '' }))
}
