import { fieldsIn, rowsIn } from '../../client/answered.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import { type Destination, type Fields, type Item, type Kind, sameFields, type Send } from './kind.ts'

type Operations = {
  one: string
  list: Operation
  create: Operation
  update: Operation
  /** What an update wants in its path. */
  target(org: number, id: unknown): Fields
}
type There = { id: unknown; record: unknown; several: boolean }

const exists = ({ one }: Operations, several: boolean): SvcError =>
  new SvcError(
    'refused',
    several ? 'name_ambiguous' : 'name_exists',
    several
      ? `Several have this name; it is not clear which ${one} is meant`
      : `A ${one} with this name already exists`,
  )

/** Sends what a service knows by id and people by name: who is there is looked up once, before the first row. */
export const openByName = (operations: Operations): Kind['open'] => {
  const { list, create, update, target } = operations

  const thereIn = async ({ client, org, signal }: Destination): Promise<Map<string, There>> => {
    const there = new Map<string, There>()
    for await (const answer of client.pages(list, { org_id: org, limit: 1000 }, { signal }))
      for (const record of rowsIn(list, answer)) {
        const name = String(record.name)
        there.set(name, { id: record.id, record, several: there.has(name) })
      }
    return there
  }

  return async (to: Destination): Promise<Send> => {
    const { client, org, mode, resumed } = to
    const there = await thereIn(to)
    const meet = async (found: There, { input }: Item, options: Parameters<Send>[1]) => {
      const { id, record, several } = found
      if (mode === 'skip') return { status: 'skipped', id } as const
      const same = !several && sameFields(input, record)
      // A row whose answer was lost with the run before is there, exactly as it was sent.
      if (same && (mode === 'update' || resumed)) return { status: 'skipped', id } as const
      if (several || mode === 'fail') throw exists(operations, several)
      await client.call(update, { ...target(org, id), ...input }, options)
      return { status: 'updated', id } as const
    }
    return async (item, options) => {
      const found = there.get(item.key)
      if (found) return meet(found, item, options)
      const { id } = fieldsIn(await client.call(create, { org_id: org, ...item.input }, options))
      return { status: 'created', id }
    }
  }
}
