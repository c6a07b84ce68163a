import * as z from 'zod/mini'
import { mostLines } from './approvers.ts'
import { chosen, line, optional, seconds, some } from './field.ts'
import { groupLine, groupName, oneOfGroup } from './line-text.ts'
import { factors } from './records.ts'
import { subjectTypes } from './subject.ts'

// A rule as people write it: who must approve what. spec: not shown

/** A rule is read on a phone, by whoever adds or changes it. */
export const mostRules = 100
const mostPatterns = 20

export const ruleName = chosen(groupName, 'Name of the rule', { example: 'destroy' })

// Somebody who approves a rule must see what it says.
const unseen = /[\p{Default_Ignorable_Code_Point}\u2800]/u
// A word in which some letters only look like those of the others holds nothing, and reads as if it did.
const mixed =
  /\p{sc=Latin}[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}\p{sc=Coptic}\p{sc=Lisu}]|[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}\p{sc=Coptic}\p{sc=Lisu}]\p{sc=Latin}/u
// Letters of phonetic alphabets, and small capitals.
const phonetic = /[ǀǃɑɡɪʏ\u1d00-\u1d2b\ua730\ua731\uab30-\uab6f]/
const isMixed = (text: string): boolean => mixed.test(text) || (phonetic.test(text) && /[a-z]/i.test(text))
const pattern = line(200).check(
  z.refine((text) => !unseen.test(text), 'must have no invisible character'),
  z.refine(
    (text) => !isMixed(text.normalize('NFC')),
    'must not mix Latin letters with those of another alphabet that look like them in one word',
  ),
)
const nameOnly = pattern.check(z.refine((text) => !text.includes('/'), 'must be a name without a folder'))
const patterns = (description: string, example: string[], each = pattern) =>
  optional(some(each, mostPatterns, 'pattern'), description, { example, repeat: true })

/** What a subject of each type has. All fields of a rule must match; of the patterns of one field, one must. */
const subjectFields = {
  argv: patterns('Of a command: all of its words, in order; * in a word, ** for any number of words', [
    'terraform',
    '**',
    'destroy',
    '**',
  ]),
  cwd: patterns('Of a command: its folder; * in a name, ** for any number of folders', ['/srv/prod/**']),
  operation: patterns('Of a call of svc: words of commands, such as "user" or "user delete"', [
    'user delete',
  ]),
  file: patterns('Of a file: its name', ['*.tfplan'], nameOnly),
  server: patterns('Of a tool call: the server', ['github']),
  tool: patterns('Of a tool call: the tool', ['merge_*']),
  arguments: optional(
    z.record(
      line(100),
      z
        .array(pattern, 'must be a list, such as ["main"]')
        .check(z.minLength(1, 'must contain at least one pattern')),
    ),
    'Of a tool call: patterns by argument; one that is missing, not text or spelled differently matches',
    { example: { branch: ['main'] }, whole: true },
  ),
  text: patterns('Of a text: all of it', ['*production*']),
}

const match = z.strictObject({
  type: chosen(
    z.enum(subjectTypes),
    'What it holds: text, command, request (a change by svc), file or tool_call',
  ),
  ...subjectFields,
  shells: optional(
    z.enum(['ignore']),
    'ignore: do not match each command that starts others, such as sh -c, env or sudo',
  ),
  key: optional(
    z.array(line(64)).check(z.minLength(1, 'must contain at least one key')),
    'Only requests of these keys and of the keys that they created; key ids',
    { example: ['7'] },
  ),
})

export const ruleReason = z.strictObject({
  prompt: optional(line(80), 'What to ask for', { example: 'Incident', flag: 'reason-prompt' }),
  pattern: optional(line(100), 'What the reason must match', {
    example: 'INC-*',
    flag: 'reason-pattern',
  }),
  example: optional(line(100), 'A reason that matches; required with a pattern', {
    example: 'INC-77',
    flag: 'reason-example',
  }),
})

/** In seconds, and uses, unless a rule says otherwise. */
export const usualGrant: { max_s: number; uses: number } = { max_s: 3600, uses: 20 }

export const ruleGrant = z.strictObject({
  max_s: optional(
    seconds(60, 28_800, '28800 (8 hours)'),
    'For how long the approver can allow it again, in seconds; 3600 if only the number is given',
    { example: 3600, flag: 'grant-max' },
  ),
  uses: optional(
    z.int().check(z.gte(1, 'must be 1 or more'), z.lte(100, 'must be 100 or less')),
    'How often, at most; 20 if only the time is given',
    { example: 20, flag: 'grant-uses' },
  ),
})

const days = '86400 (24 hours)'

/** A rule as people write it. */
export const ruleParts = {
  name: ruleName,
  match: chosen(match, 'What it holds'),
  except: optional(
    some(z.strictObject(subjectFields), mostPatterns, 'exception'),
    'What the rule does not hold: fields of the same type, all of which match',
    { example: [{ argv: ['terraform', 'destroy'], cwd: ['/srv/sandbox/**'] }] },
  ),
  who: chosen(
    z
      .array(groupLine)
      .check(
        z.minLength(1, 'must name at least one group'),
        z.maxLength(mostLines, `must have at most ${mostLines} lines`),
      ),
    'Groups that must approve: @sre (one member) or @sre:2; each line must agree',
    { example: ['@sre'], repeat: true },
  ),
  requester: optional(
    z.enum(['confirmed']),
    'confirmed: only keys whose owner confirmed them on a device can ask',
  ),
  reason: optional(ruleReason, 'Requires a reason'),
  lifetime_s: optional(
    seconds(120, 86_400, days),
    'Time for the decision, in seconds, at most; default: 300',
    { example: 900, flag: 'timeout' },
  ),
  use_within_s: optional(
    seconds(60, 86_400, days),
    'Time to use an approval, in seconds, at most; default: 600',
    { example: 600, flag: 'use-within' },
  ),
  factors: optional(
    z.array(z.enum(factors)),
    'Factors that must pass, also if the policy only reports them',
    {
      example: ['location'],
    },
  ),
  number: optional(z.boolean(), 'Require each approver to type a number that only the requester sees'),
  grant: optional(
    ruleGrant,
    'Lets the approver of a command or a tool call allow the same again for a while; what match has as * may differ',
  ),
  break_glass: optional(
    oneOfGroup,
    'Group of which one member can approve in an emergency, instead of those in who; everybody is told',
    { example: '@oncall' },
  ),
}

export const ruleShape = z.strictObject(ruleParts)
export type Rule = z.infer<typeof ruleShape>
export type RuleMatch = Rule['match']
export type SubjectFields = NonNullable<Rule['except']>[number]
