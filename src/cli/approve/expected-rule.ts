import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseLine } from '../../contract/approvers.ts'
import { ruleShape } from '../../contract/rule-shape.ts'
import { usageError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import type { ExpectedRule } from '../../receipt/expected-rule.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { Context } from '../context/context.ts'
import { type FileKind, parseYaml } from '../declare/yaml.ts'
import { readText } from '../terminal/input-file.ts'

const kind: FileKind = {
  single: 'a file has one rule',
  nothing: 'nothing was verified',
  schema: 'svc rule get NAME -o yaml',
  example: 'svc rule get NAME -o yaml > rule.yaml',
}

/** `svc rule get` shows these besides the rule. The digest is computed, and not believed. */
const besides = new Set(['org_id', 'digest', 'created_at'])
const isOwn = ([name]: [string, unknown]): boolean => !besides.has(name)

/** What a rule in a file says: its digest as people sign it, and whom it asks. */
const readRule = (text: string, file: string): ExpectedRule => {
  const { value: whole, check } = parseYaml(text, file, kind)
  const value = isRecord(whole) ? Object.fromEntries(Object.entries(whole).filter(isOwn)) : whole
  if (!isRecord(value) || value['match'] === undefined)
    throw usageError(`${file} must contain one rule`, kind.example)
  const rule = check(ruleShape, value)
  const who = rule.who.map(parseLine).flatMap((line) => (line.group === undefined ? [] : [line]))
  return { name: rule.name, digest: digestOf(rule), who }
}

/** The rule that `--rule` names: a file, the SHA-256 of a rule, or a name. */
export const ruleIn = async (typed: string, { io }: Context): Promise<ExpectedRule> => {
  if (/^[0-9a-f]{64}$/.test(typed)) return { digest: typed }
  if (existsSync(resolve(io.cwd, typed))) return readRule(await readText(typed, io, '--rule'), typed)
  if (/^[a-z][a-z0-9-]{0,39}$/.test(typed)) return { name: typed }
  throw usageError(
    `--rule: there is no file "${typed}", and it is neither a SHA-256 nor the name of a rule`,
    kind.example,
  )
}
