import { fieldsIn, rowsIn } from '../../client/answer-data.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import { type Fields, type Kind, sameFields } from './kind.ts'

type NamedKind = Omit<Kind, 'orgField' | 'defaults' | 'keyColumn' | 'listed' | 'open'> & {
  update: Operation
  /** The path parameters of an update. */
  target(org: number, id: unknown): Fields
}

/** A kind that people name and the service identifies by ID. The existing rows are listed once, before the first row is sent. */
export const byName = ({ update, target, ...kind }: NamedKind): Kind => ({
  ...kind,
  orgField: 'org_id',
  defaults: { is_active: 1 },
  keyColumn: 'name',
  listed: {},
  open: async ({ client, org, mode, signal, resumed }) => {
    const existing = new Map<string, { id: unknown; record: unknown; isAmbiguous: boolean }>()
    for await (const answer of client.pages(kind.list, { org_id: org }, { signal }))
      for (const record of rowsIn(kind.list, answer)) {
        const name = String(record.name)
        existing.set(name, { id: record.id, record, isAmbiguous: existing.has(name) })
      }
    return async ({ key, input }, options) => {
      const found = existing.get(key)
      if (!found) {
        const { id } = fieldsIn(await client.call(kind.create, { org_id: org, ...input }, options))
        return { status: 'created', id }
      }
      const { id, record, isAmbiguous } = found
      // If a run before lost the response to a row, that row now exists exactly as it was sent.
      const isDone = (mode === 'update' || resumed) && !isAmbiguous && sameFields(input, record)
      if (mode === 'skip' || isDone) return { status: 'skipped', id }
      if (isAmbiguous)
        throw new SvcError(
          'refused',
          'name_ambiguous',
          `Several have this name; it is not clear which ${kind.one} is meant`,
        )
      if (mode === 'fail')
        throw new SvcError('refused', 'name_exists', `A ${kind.one} with this name already exists`)
      await client.call(update, { ...target(org, id), ...input }, options)
      return { status: 'updated', id }
    }
  },
})
