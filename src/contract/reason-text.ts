import * as z from 'zod/mini'
import { seen } from './field.ts'

/** Apart, because a file of the command line has it, too, and the command line loads no operations to check it. */
export const reasonText = z.string().check(z.maxLength(2000, 'must have at most 2000 characters'), seen)
