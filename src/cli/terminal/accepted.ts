import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Globals } from './io.ts'
import { formats, type Format } from './output.ts'
import { fieldsNeeded, namesIn } from './payload.ts'

/** Commands that print text, and the formats that they have besides. --json, --jq and --envelope do not apply to them. */
export const printsText: Record<string, readonly Format[]> = {
  completion: [],
  demo: [],
  export: ['yaml'],
  help: [],
  mcp: [],
  serve: ['json'],
}

/** Commands that are not from the table and answer an id. */
export const answersId: ReadonlySet<string> = new Set([
  'api',
  'approve inbox',
  'approve request',
  'approve run',
  'approve wait',
])

const fromTable = new WeakSet<Command>()

/** A command that is made from the table: where --json names no field, it lists those of its answer. */
export const listsFields = (command: Command): Command => {
  fromTable.add(command)
  return command
}

/** The flag that picks from an answer, where one is given: `--jq`. */
export const pickingFlag = ({ json, jq, envelope }: Globals): string | undefined => {
  const [name] = Object.entries({ json, jq, envelope }).find(([, value]) => value !== undefined) ?? []
  return name && `--${name}`
}

/** Fails with a usage error where a flag is given that this command would ignore, or could not honour once it is done. */
export const checkAccepted = (command: Command, words: string, globals: Globals): void => {
  const { output, json } = globals
  const only = Object.hasOwn(printsText, words) ? printsText[words]! : undefined
  const picking = pickingFlag(globals)
  if (words === 'api' && globals.envelope)
    throw usageError('svc api shows the whole answer without --envelope')
  if (only && picking) throw usageError(`svc ${words} does not take ${picking}`, `svc ${words} --help`)
  if (json !== undefined && (json === true || namesIn(json).length === 0) && !fromTable.has(command))
    throw fieldsNeeded([])
  if (output === 'id' && !only && !fromTable.has(command) && !answersId.has(words))
    throw usageError(`svc ${words} answers no id`, '-o json shows the answer')
  const isKnown = (formats as readonly string[]).includes(output ?? '')
  if (only && isKnown && !(only as readonly string[]).includes(output!))
    throw usageError(
      `svc ${words} does not take -o ${output}`,
      only.length > 0 ? `-o ${only.join(' or -o ')}` : 'Leave -o out',
    )
}
