import * as z from 'zod/mini'
import {
  lineForm,
  mostLength,
  mostLines,
  plainLine,
  readLine,
  repeatedForm,
  repeatedLine,
} from './approvers.ts'
import { formed } from './field.ts'

// What a request accepts as a line of people. Apart, because the command line reads lines without the validator.

/** Lower-case words, so that `@SRE` and `@sre` cannot be two groups. */
export const groupName = formed(
  /^[a-z][a-z0-9-]{0,39}$/,
  'must be 1 to 40 lower-case letters, digits and hyphens, starting with a letter',
)

const lineText = z.string().check(
  z.overwrite(plainLine),
  z.maxLength(mostLength, { error: `must have at most ${mostLength} characters`, abort: true }),
  z.refine((text) => readLine(text) !== undefined, lineForm),
)

/** A line of a rule. Only groups, so that each change of people is made in one place. */
export const groupLine = z.string().check(
  z.overwrite(plainLine),
  z.refine((text) => readLine(text)?.group !== undefined, {
    error: ({ input }) => {
      const typed = String(input).slice(0, 60)
      return typed.includes(',')
        ? `must be one group, not "${typed}"; several: --who @dba:2 --who @sre`
        : `must be a group such as @sre or @sre:2, not "${typed}"`
    },
  }),
)

/** A group without a number. */
export const oneOfGroup = z.string().check(
  z.overwrite(plainLine),
  z.refine(
    (text) => readLine(text)?.group !== undefined && !text.includes(':'),
    'must be a group without a number, such as @oncall: one member signs',
  ),
)

export const lineTexts = z.array(lineText).check(
  z.minLength(1, 'must name at least one person or group'),
  z.maxLength(mostLines, `must have at most ${mostLines} lines`),
  z.refine((texts) => repeatedLine(texts) === undefined, repeatedForm),
)
