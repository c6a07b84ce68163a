import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { showDecision } from './ending.ts'
import type { Approver, Decision } from './pending.ts'

type Options = { authenticator?: string; approve?: string; deny?: string; notMe?: string; number?: string }

/** The one decision that was typed; undefined where a person is to be asked. */
const typedDecision = ({
  approve,
  deny,
  notMe,
  number,
}: Options): { id: string; decision: Decision } | undefined => {
  const given: { id: string; decision: Decision }[] = [
    ...(approve === undefined
      ? []
      : [
          {
            id: approve,
            decision: { decision: 'approve' as const, ...(number === undefined ? {} : { number }) },
          },
        ]),
    ...(deny === undefined ? [] : [{ id: deny, decision: { decision: 'deny' as const } }]),
    ...(notMe === undefined ? [] : [{ id: notMe, decision: { decision: 'deny' as const, not_me: true } }]),
  ]
  if (given.length > 1) throw usageError('Only one of --approve, --deny and --not-me')
  if (number !== undefined && approve === undefined) throw usageError('--number goes with --approve')
  return given[0]
}

const decideOne = async (
  approver: Approver,
  id: string,
  decision: Decision,
  context: Context,
): Promise<void> => {
  const ceremony = await approver.open(id)
  if (decision.decision === 'approve' && ceremony.numberRequired && decision.number === undefined)
    throw usageError(
      'The requester sees a number that must be typed',
      `svc approve inbox --approve ${id} --number <nn>`,
    )
  await showDecision(context, await ceremony.decide(decision))
}

/** `svc approve inbox`: an approver at a terminal, with a software authenticator. */
export const registerInbox = (group: Command, context: Context): void => {
  const command = group
    .command('inbox')
    .description(
      'Decide what is pending, with a software authenticator; only where the service runs with --dev',
    )
    .usage('[flags]')
    .option(
      '--authenticator <file>',
      'key file of svc user enroll --software; the only one there is when left out',
    )
    .option('--approve <request_id>', 'without questions: approve this one')
    .option('--deny <request_id>', 'without questions: deny this one')
    .option('--not-me <request_id>', 'without questions: deny this one, and mute who asked')
    .option('--number <nn>', 'with --approve: the number that the requester sees')
    .addHelpText(
      'after',
      '\nExamples:\n  svc approve inbox\n  svc approve inbox --approve apr_3mYk8wQZ --number 42',
    )

  command.action(async () => {
    const options = command.opts<Options>()
    const typed = typedDecision(options)
    const prompt = typed ? undefined : await context.prompt()
    if (!typed && !prompt)
      throw usageError(
        'svc approve inbox needs a terminal, or a decision',
        'svc approve inbox --approve <request_id>',
      )
    const [{ readKeyFile }, { createApprover }] = await Promise.all([
      import('./key-file.ts'),
      import('./pending.ts'),
    ])
    const keyFile = readKeyFile(options.authenticator, context.io)
    const approver = await createApprover(keyFile, context)
    if (typed) return decideOne(approver, typed.id, typed.decision, context)
    const { runInbox } = await import('./inbox-screen.ts')
    return runInbox(approver, prompt!, context)
  })
}
