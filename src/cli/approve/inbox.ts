import { usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { device } from '../../contract/device.ts'
import { checkShown } from '../operation/run-operation.ts'
import type { Context } from '../context/context.ts'
import { defineCommand } from '../program/define-command.ts'
import { pickingFlag } from '../terminal/output.ts'
import { showDecision } from './messages.ts'
import type { Ceremony, SoftwareDevice, Decision, ReportedLocation } from './software-device.ts'

type Options = {
  authenticator?: string
  approve?: string
  deny?: string
  notMe?: string
  note?: string
  number?: string
  grant?: boolean
  latitude?: string
  longitude?: string
  dryRun?: boolean
}

/** The decision from the flags; undefined if svc must prompt for it. */
const typedDecision = (
  { approve, deny, notMe, note, number, grant }: Options,
  location: ReportedLocation | undefined,
): { id: string; decision: Decision } | undefined => {
  const approval = {
    decision: 'approve' as const,
    ...(grant && { grant: true as const }),
    ...(number !== undefined && { number }),
    ...(location && { location }),
  }
  const decisions: { id: string | undefined; decision: Decision }[] = [
    { id: approve, decision: approval },
    { id: deny, decision: { decision: 'deny', ...(note !== undefined && { note }) } },
    { id: notMe, decision: { decision: 'deny', not_me: true, ...(note !== undefined && { note }) } },
  ]
  const [typed, second] = decisions.flatMap(({ id, decision }) =>
    id === undefined ? [] : [{ id, decision }],
  )
  if (second) throw usageError('Use only one of --approve, --deny and --not-me')
  if (note !== undefined && (!typed || approve !== undefined))
    throw usageError('--note requires --deny or --not-me')
  if (grant && approve === undefined) throw usageError('--grant requires --approve')
  if (number !== undefined && approve === undefined) throw usageError('--number requires --approve')
  if (location && typed && approve === undefined)
    throw usageError('--latitude and --longitude require --approve')
  return typed
}

/** The service says no more than this. */
const whyNoGrant = ({ locationRequired, numberRequired }: Ceremony): string => {
  if (locationRequired) return 'a geofence applies, and the location is checked each time'
  if (numberRequired) return 'a number must be typed each time'
  return 'its rules allow none, or each approval is checked against a time slot or a network'
}

/** Approves or denies one request. Checks what an approval requires before anything is signed. */
const decideOne = async (
  own: SoftwareDevice,
  { id, decision, dryRun }: { id: string; decision: Decision; dryRun?: boolean | undefined },
  context: Context,
): Promise<void> => {
  await checkShown(device.decideApproval, context)
  const ceremony = await own.open(id)
  const { number, location, grant } = decision
  if (grant && !ceremony.grant)
    throw usageError(
      `This request offers no grant: ${whyNoGrant(ceremony)}. Nothing was decided`,
      'Leave out --grant',
    )
  const approving = decision.decision === 'approve'
  const noNumber = approving && ceremony.numberRequired && number === undefined
  const noPlace = approving && ceremony.locationRequired && location === undefined
  if (noNumber || noPlace) {
    const line = (await context.command?.line()) ?? `svc approve inbox --approve ${shellQuote(id)}`
    throw usageError(
      [
        ...(noNumber ? ['The requester sees a number that you must type.'] : []),
        ...(noPlace ? ['A geofence applies to this approver, and the location is missing.'] : []),
        'Nothing was decided',
      ].join(' '),
      `${line}${noNumber ? ' --number <nn>' : ''}${noPlace ? ' --latitude <degrees> --longitude <degrees>' : ''}`,
    )
  }
  if (!dryRun) return showDecision(context, await ceremony.decide(decision))
  const output = await context.output()
  const { fieldsOf, summaryOf } = await import('../../receipt/subject-text.ts')
  const { type, digest } = ceremony.context.subject
  const subject = {
    type,
    digest,
    data: ceremony.subject.data,
    summary: summaryOf(ceremony.subject),
    fields: fieldsOf(ceremony.subject),
  }
  const { note } = decision
  const data = {
    ...(grant && { grant: ceremony.grant }),
    ...ceremony.context,
    subject,
    decision: decision.decision,
    not_me: decision.not_me === true,
    ...(note !== undefined && { note }),
  }
  await output.reportDryRun('Nothing was signed', data, { masked: new Set(['mobile']) })
}

/** `svc approve inbox`: an approver at a terminal, with a software authenticator. */
export const registerInbox = defineCommand<Options>({
  name: 'inbox',
  summary:
    'Approve or deny pending requests with a software authenticator; requires a service that runs with --dev',
  options: {
    '--authenticator <file>': 'Key file of svc user enroll --software; default: the only one, or a question',
    '--approve <request-id>': 'Approve this request without prompting',
    '--deny <request-id>': 'Deny this request without prompting',
    '--not-me <request-id>':
      'Deny this request without prompting, mute the requester and end its other requests',
    '--note <text>': 'With --deny or --not-me: a note to the requester, signed with the denial',
    '--grant': 'With --approve: also allow the same again, as far as the rules of the request allow it',
    '--number <nn>': 'With --approve: the number that the requester sees',
    '--latitude <degrees>': 'With --longitude: location to approve from, if a geofence applies',
    '--longitude <degrees>': 'See --latitude',
    '--dry-run': 'With --approve, --deny or --not-me: show what would be signed and sign nothing',
  },
  examples: [
    'svc approve inbox',
    'svc approve inbox --approve apr_3mYk8wQZ --number 42',
    'svc approve inbox --deny apr_3mYk8wQZ --note "Not during the release freeze"',
  ],
  scope: 'ask or read',
  hasId: true,
  action: async ({ options }, context) => {
    const { createSoftwareDevice, noteProblem, readPlace } = await import('./software-device.ts')
    const place = readPlace(options)
    const note = options.note?.trim()
    const problem = note === undefined ? undefined : noteProblem(note)
    if (problem !== undefined) throw usageError(`--note: ${problem}`)
    const typed = typedDecision({ ...options, ...(note !== undefined && { note }) }, place)
    const { dryRun } = options
    if (dryRun && !typed) throw usageError('--dry-run requires --approve, --deny or --not-me')
    const shaping = context.globals.output === undefined ? pickingFlag(context.globals) : '-o'
    if (!typed && shaping)
      throw usageError(`${shaping} requires --approve, --deny or --not-me`, `Remove ${shaping}`)
    const prompt = typed ? undefined : await context.prompt()
    if (!typed && !prompt)
      throw usageError(
        'svc approve inbox requires a terminal or a decision',
        await context.command!.again({ plus: ['--approve', 'apr_3mYk8wQZ'] }),
      )
    const { chooseKeyFile } = await import('../context/key-file.ts')
    const keyFile = await chooseKeyFile(options.authenticator, context)
    const own = await createSoftwareDevice(keyFile, context)
    if (typed) return decideOne(own, { ...typed, dryRun }, context)
    const { runInbox } = await import('./inbox-screen.ts')
    return runInbox({ device: own, place }, prompt!, context)
  },
})
