import { realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import { failure } from '../../core/errors.ts'
import type { Io } from '../terminal/io.ts'
import type { GuardConfig } from './config.ts'
import { guardSubject, hold, hostOf, newRun } from './hold.ts'
import { createGit, describeUpdate, isHeld, parseUpdates, targetOf } from './push.ts'
import { ownAccount } from './trust.ts'

const nothing = 'the push is refused'
/** As many as an approver can be expected to read. */
const mostRefs = 20

/** A pre-receive hook: returns if the push touches no held ref, or after a person has approved exactly what it does to them. */
export const guardGit = async (config: GuardConfig, io: Io): Promise<void> => {
  const updates = parseUpdates(await io.stdin.text())
  // git starts a hook in the repository.
  const repository = realpathSync(io.cwd)
  const git = createGit(repository, io.env)
  const held = updates
    .map((update) => ({ update, target: targetOf(update.ref, git) }))
    .filter(({ update, target }) => [update.ref, target].some((one) => isHeld(one, config.git!.refs)))
  if (held.length === 0) return
  if (held.length > mostRefs)
    throw failure(
      'guard_too_long',
      `The push changes ${held.length} guarded refs, and an approver is asked about at most ${mostRefs}: ${nothing}`,
      'Push fewer at a time',
    )
  const { name } = ownAccount()
  const [client = ''] = (io.env['SSH_CONNECTION'] ?? '').split(' ')
  const subject = guardSubject('tool_call', {
    server: `${hostOf(config)}:${repository}`,
    tool: 'git push',
    arguments: {
      account: name,
      ...(isIP(client) !== 0 && { from: client }),
      ...Object.fromEntries(
        held.map(({ update, target }) => [
          target === update.ref ? target : `${update.ref} (${target})`,
          describeUpdate(update, git),
        ]),
      ),
      run: newRun(),
    },
  })
  await hold(config, { subject, account: name, nothing }, io)
}
