import { fieldsOf } from '../../contract/describe.ts'
import { orgFields, type Field, type Operation } from '../../contract/operation.ts'
import type { Need, Flags } from '../program/command-node.ts'

const defaultOrg = 'default: SVC_ORG or the profile'

/** The flag --org of a command that is not in the table and cannot run without it. */
export const orgFlag = (unless = ''): Flags => ({
  '--org <org>': {
    about: 'Organization, id or slug',
    need: { asked: false, note: defaultOrg + unless },
  },
})

/** Which settings a missing field is taken from, for a command that notifies a person or for an organization. */
const defaultsOf = ({ effect }: Operation, field: Field): string | undefined => {
  if (orgFields.includes(field.name)) return defaultOrg
  if (effect !== 'notifies' || field.name !== 'approvers') return undefined
  return 'default: SVC_DEFAULT_MOBILE or the profile'
}

/** Why the flag of a field is required by these operations, which share a command; undefined if it is optional. */
export const needFor = (candidates: readonly Operation[], field: Field): Need | undefined => {
  const needing = candidates.filter((operation) =>
    fieldsOf(operation).some(({ flag, required }) => flag === field.flag && required),
  )
  const others = candidates.filter((operation) => !needing.includes(operation))
  const [first] = needing
  if (!first || (others.length > 0 && needing.every(({ select }) => select === field.name))) return undefined
  const selecting = others.flatMap((operation) =>
    fieldsOf(operation).flatMap(({ name, flag }) => (name === operation.select ? [flag] : [])),
  )
  // Only another form of the command requires it.
  if (others.length > selecting.length) return undefined
  const without = [...selecting, ...(field.meta.unless ? [field.meta.unless] : [])]
  const from = defaultsOf(first, field)
  const notes = [...(from ? [from] : []), ...without.map((flag) => `not with --${flag}`)]
  return { asked: true, ...(notes.length > 0 && { note: notes.join('; ') }) }
}
