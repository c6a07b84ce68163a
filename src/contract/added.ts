import * as z from 'zod/mini'
import { chosen, id, optional, positive } from './field.ts'

// What came to be through a device or a key, and works now. spec: not shown

/** At most this many devices and keys are listed, or ended with what added them. */
export const mostAdded = 1000

const person = {
  org_id: chosen(positive, 'Organization id'),
  user_id: chosen(id, 'User id'),
  owner: chosen(z.string(), 'Name of that user'),
}
const thing = (noun: string) =>
  z.looseObject({
    id: chosen(id, `Id of the ${noun}`),
    name: chosen(z.string(), `Name of the ${noun}`),
    ...person,
  })

export const addedThings = z.looseObject({
  devices: chosen(z.array(thing('device')), 'Devices'),
  agents: chosen(
    z.array(thing('key')),
    'Keys that people consented to: of agents, of terminals, and their own',
  ),
  more: chosen(z.boolean(), `Whether there are more than can be listed (${mostAdded})`),
})

export const addedByKey = z.extend(addedThings, {
  administrators: chosen(
    z.array(z.looseObject(person)),
    'Administrators whom it appointed; they stay administrators',
  ),
  pending_requests: chosen(z.int(), 'Pending requests, which end with it'),
  enrollment_links: chosen(z.int(), 'Enrollment links that nobody has used, which end with it'),
})

/** What became of the things that a device or a key added. */
export const endedThings = {
  ended: chosen(addedThings, 'What it added and ended with it'),
  remaining: chosen(addedThings, 'What it added and still works'),
}

export const with_added = optional(z.boolean(), 'End the devices and keys that it added, too')
