import * as z from 'zod/mini'
import { chosen, line, optional } from './field.ts'

/** Why the glass is broken, as the requester says it. */
export const breakGlassReason = optional(
  line(500),
  'Emergency, and why: one member of the break_glass group of each rule approves instead of the others, who are told; only for a signed-in person',
  { example: 'prod down, INC-77' },
)

/** What was different in an emergency. */
export const breakGlassOf = (people: 'User ids' | 'Names') =>
  optional(
    z.strictObject({
      reason: chosen(z.string(), 'Why, in the words of the requester'),
      skipped: chosen(z.array(z.string()), `${people} of the people whom the rules name and nobody asked`),
      told: chosen(z.array(z.string()), `${people} of everybody who was told`),
      review: optional(
        z.strictObject({
          by: chosen(z.string(), people === 'Names' ? 'Name of the reviewer' : 'User id of the reviewer'),
          verdict: chosen(z.enum(['ok', 'disputed']), 'What the reviewer says'),
          at: chosen(z.string(), 'When'),
          note: optional(z.string(), 'Why, in the words of the reviewer'),
        }),
        'What one of the people whom nobody asked said of it afterwards',
      ),
    }),
    'Break-glass: one member of another group approves; left out of any other request',
  )
