import * as z from 'zod/mini'
import { chosen, id, line, nullable, optional, positive, seen } from './field.ts'
import { operations } from './declaration.ts'
import { groupChange, groupRecord } from './group.ts'
import { factors, org_id, paging, time } from './records.ts'
import { mostRules, ruleName as name, ruleParts as parts, ruleReason, ruleShape } from './rule-shape.ts'
import { sha256Hex } from './subject.ts'

// Rules under /svc/v1. spec: not shown

const ruleRecord = z.looseObject({
  ...parts,
  org_id: chosen(positive, 'Organization id'),
  digest: chosen(z.string(), 'SHA-256 of the canonical JSON (RFC 8785) of the rule, which approvers sign'),
  created_at: chosen(time, 'When it was created'),
})

const wholeRules = z.array(ruleShape).check(z.maxLength(mostRules, `must contain at most ${mostRules} rules`))

/** A person of a line, and why they would not be asked. */
const testedPerson = z.strictObject({
  user_id: chosen(z.string(), 'User id'),
  name: chosen(z.string(), 'Name'),
  excluded: nullable(z.string(), 'Why this person would not be asked; null if they would be'),
  away_until: nullable(time, 'When this person is back; null if they are not away'),
  notified: chosen(
    z.boolean(),
    'Whether they would be notified; whoever is away only if the others are too few',
  ),
})

export const rule = operations({
  listRules: {
    route: 'GET /svc/v1/organizations/{org_id}/rules',
    cli: 'rule list',
    scope: 'read',
    summary: 'List the rules of an organization',
    message: 'Rules',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(ruleRecord),
    columns: ['name', 'match', 'except', 'who', 'break_glass'],
    wide: ['break_glass'],
  },
  getRule: {
    route: 'GET /svc/v1/organizations/{org_id}/rules/{name}',
    cli: 'rule get',
    scope: 'read',
    summary: 'Show one rule',
    message: 'Rule',
    example: 'destroy --org acme',
    input: z.strictObject({ org_id, name }),
    data: ruleRecord,
  },
  createRule: {
    route: 'POST /svc/v1/organizations/{org_id}/rules',
    cli: 'rule create',
    args: ['name'],
    scope: 'rules',
    summary: 'Create a rule; all rules that match a request add up',
    message: 'Rule created',
    example: 'destroy --type command --argv terraform --argv "**" --who @sre --org acme',
    input: z.strictObject({ org_id, ...parts }),
    data: z.extend(ruleRecord, {
      unheard: optional(
        z.array(z.string()),
        'Names of its people whom nobody could tell of an emergency now, so that break_glass would be refused',
      ),
    }),
  },
  deleteRule: {
    route: 'DELETE /svc/v1/organizations/{org_id}/rules/{name}',
    cli: 'rule delete',
    scope: 'rules',
    summary: 'Delete a rule; without an operator key, the people whom it asks must approve that',
    message: 'Rule deleted',
    example: 'destroy --org acme --yes',
    input: z.strictObject({ org_id, name }),
  },
  setRules: {
    route: 'POST /svc/v1/organizations/{org_id}/rule-changes',
    cli: 'rule set',
    hidden: true,
    scope: 'rules',
    effect: 'delete',
    summary: 'Create, change and delete several rules and groups with one approval',
    message: 'Rules set',
    input: z.strictObject({
      org_id,
      rules: optional(wholeRules, 'Rules that are created or replaced, by name', { whole: true }),
      removed: optional(z.array(name), 'Names of rules that are deleted', { example: ['destroy'] }),
      groups: optional(
        z.array(groupChange),
        'Groups that are created or changed; nobody as a member deletes one',
      ),
    }),
    data: z.strictObject({
      rules: chosen(z.array(ruleRecord), 'The rules that were created or replaced'),
      groups: chosen(z.array(groupRecord), 'The groups that were created or changed'),
    }),
  },
  testRule: {
    route: 'POST /svc/v1/organizations/{org_id}/rule-tests',
    cli: 'rule test',
    effect: 'read',
    scope: 'read',
    summary: 'Show which rules match a request, who would be asked, and whether they can approve it now',
    message: 'Rules tested',
    example: '--org acme -- terraform -chdir=prod destroy',
    input: z.strictObject({
      org_id,
      type: parts.match.shape.type,
      argv: optional(z.array(z.string().check(seen)), 'Of a command: its words', {
        example: ['terraform', 'destroy'],
        repeat: true,
      }),
      cwd: optional(z.string().check(seen), 'Of a command: its folder; default: /', {
        example: '/srv/prod',
      }),
      operation: optional(line(60), 'Of a call of svc: the command', { example: 'user delete' }),
      file: optional(line(), 'Of a file: its name', { example: 'prod.tfplan' }),
      server: optional(line(), 'Of a tool call: the server', { example: 'github' }),
      tool: optional(line(), 'Of a tool call: the tool', { example: 'merge_pull_request' }),
      arguments: optional(z.looseObject({}), 'Of a tool call: its arguments', { whole: true }),
      text: optional(line(500), 'Of a text: all of it', { example: 'Deploy to production' }),
      key: optional(id, 'The key that asks; default: the key of this call', { example: '7' }),
    }),
    data: z.strictObject({
      rules: chosen(
        z.array(z.strictObject({ name, digest: chosen(sha256Hex, 'SHA-256 of the rule') })),
        'Rules that match',
      ),
      excepted: chosen(z.array(name), 'Rules that would match but for one of their exceptions'),
      lines: chosen(
        z.array(
          z.strictObject({
            group: nullable(z.string(), 'Name of the group'),
            need: chosen(positive, 'How many of them must agree'),
            rules: chosen(z.array(z.string()), 'Rules that ask for it'),
            people: chosen(z.array(testedPerson), 'Members of the group'),
          }),
        ),
        'Who must approve; each line, and each person for one line',
      ),
      completable: chosen(z.boolean(), 'Whether the people who would be asked suffice now'),
      problem: nullable(z.string(), 'Why the request would be refused now; null if it would not be'),
      lifetime_s: chosen(positive, 'Time for the decision, in seconds'),
      use_within_s: chosen(positive, 'Time to use the approval, in seconds'),
      number: chosen(z.boolean(), 'Whether a number must be typed'),
      factors: chosen(z.array(z.enum(factors)), 'Factors that the rules require'),
      reasons: chosen(
        z.array(z.strictObject({ rule: chosen(name, 'Rule'), ...ruleReason.shape })),
        'Reasons that the rules require',
      ),
      near_misses: chosen(
        z.array(z.string()),
        'Rules that would hold it but for one of their parts, in words',
      ),
      ways_around: chosen(z.array(z.string()), 'What the rules do not hold, in words'),
    }),
  },
})
