import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { failure } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Env } from '../../core/env.ts'
import type { Io } from '../terminal/io.ts'
import type { GuardConfig } from './config.ts'
import { fixedPath } from './guarded-environment.ts'
import { isHeld, namesakes, shadows, withTargets } from './held-refs.ts'
import { guardSubject, hold, hostOf, newRun } from './hold.ts'
import { changeableBy } from './root-file.ts'
import { ownAccount } from './trust.ts'

/** One line that git passes to a pre-receive hook. */
export type Update = { before: string; after: string; ref: string }

const badInput = failure(
  'guard_input',
  'Standard input is not what git passes to a pre-receive hook: the push is refused',
  'Call svc guard git from hooks/pre-receive, as svc guard check prints it',
)

const requireOnce = (refs: readonly string[]): void => {
  const twice = refs.find((ref, at) => refs.indexOf(ref) !== at)
  if (twice !== undefined)
    throw failure(
      'guard_ref_twice',
      `The push changes ${safeLine(twice)} twice, and an approver would read one of them: the push is refused`,
      'Push each ref once',
    )
}

const isNone = (id: string): boolean => /^0+$/.test(id)

/**
 * The lines `old new ref`. Throws if there is none, or if one has another form, or a ref twice: git would carry out the first.
 * Names that are not UTF-8 would all read alike.
 */
export const parseUpdates = (text: string): Update[] => {
  if (text === '' || !text.endsWith('\n') || text.includes('\ufffd')) throw badInput
  const updates = text
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const [, before = '', after = '', ref = ''] =
        /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/.exec(line) ?? []
      if (ref === '' || before.length !== after.length) throw badInput
      return { before, after, ref }
    })
  requireOnce(updates.map(({ ref }) => ref))
  return updates
}

const gitProgram = '/usr/bin/git'

/** Runs git on the pushed objects, which are in quarantine until the push is accepted. */
export const createGit = (repository: string, env: Env) => {
  const bad = changeableBy(gitProgram)
  if (bad) throw failure('guard_changeable', `${bad.message}: the push is refused`, `To fix: ${bad.fix}`)
  const objects = join(repository, 'objects')
  const named = env['GIT_QUARANTINE_PATH']
  const quarantine = named ? realpathSync(named) : undefined
  if (
    quarantine !== undefined &&
    (dirname(quarantine) !== objects || !/^(?:tmp_objdir-)?incoming-\w+$/.test(basename(quarantine)))
  )
    throw badInput
  const place = {
    GIT_DIR: repository,
    ...(quarantine !== undefined && {
      GIT_OBJECT_DIRECTORY: quarantine,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    }),
  }
  return (...args: string[]): string => {
    try {
      return execFileSync(gitProgram, ['-c', `safe.directory=${repository}`, ...args], {
        cwd: repository,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: {
          PATH: fixedPath,
          LANG: 'C.UTF-8',
          HOME: '/nonexistent',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_CONFIG_GLOBAL: '/dev/null',
          GIT_NO_REPLACE_OBJECTS: '1',
          ...place,
        },
      })
    } catch (error) {
      if (args[0] === 'symbolic-ref' && (error as { status?: unknown }).status === 1) return ''
      throw failure(
        'guard_git',
        `git ${args[0]} failed in ${repository}: the push is refused`,
        `git -C ${repository} fsck`,
      )
    }
  }
}
export type Git = ReturnType<typeof createGit>

/** The ref that a push to this one changes: a symbolic ref leads to another, which may not exist yet. */
export const targetOf = (ref: string, git: Git): string => git('symbolic-ref', '-q', ref).trim() || ref

const isAncestor = (git: Git, before: string, after: string): boolean =>
  git('rev-list', '--count', `${after}..${before}`, '--').trim() === '0'

const isCommit = (git: Git, id: string): boolean => git('cat-file', '-t', `${id}^{}`).trim() === 'commit'

const commits = (git: Git, range: string[]): string => {
  const count = git('rev-list', '--count', ...range, '--').trim()
  return `${count} ${count === '1' ? 'commit' : 'commits'}`
}

/** What a push does to one ref, in words for the approver. */
export const describeUpdate = ({ before, after }: Update, git: Git): string => {
  if (isNone(after)) return `DELETE, was ${before}`
  const newest = isCommit(git, after)
    ? `, newest: ${
        git('log', '-1', '--format=%s', after, '--')
          .trim()
          .match(/^.{0,120}/u)![0]
      }`
    : ''
  if (isNone(before)) return `create ${after}${newest}`
  if (newest === '' || !isCommit(git, before)) return `REPLACE ${before} by ${after}${newest}`
  if (!isAncestor(git, before, after))
    return `FORCED ${before} to ${after}, drops ${commits(git, [before, `^${after}`])}${newest}`
  return `${before} to ${after}, ${commits(git, [after, `^${before}`])}${newest}`
}

/** Of a new ref: other refs of its name, which a program may get that asks for the name. */
const namesakesText = ({ before, ref }: Update, target: string, exists: (ref: string) => boolean): string => {
  const same = isNone(before)
    ? namesakes(target).filter((one) => one !== target && one !== ref && exists(one))
    : []
  return same.length === 0 ? '' : `; SAME NAME: ${same.join(', ')}`
}

const nothing = 'the push is refused'
/** As many as an approver can be expected to read. */
const mostRefs = 20

/** What a push does to held refs, as the approver reads it: a text for each. */
const heldBy = (
  updates: readonly Update[],
  refs: readonly string[],
  { repository, git }: { repository: string; git: Git },
): Record<string, string> => {
  const all = withTargets(repository, refs, git('for-each-ref', '--format=%(refname) %(symref)').split('\n'))
  const led = updates.map((update) => ({ update, target: targetOf(update.ref, git) }))
  // Also through a symbolic ref.
  const targets = led.map(({ target }) => target)
  requireOnce(targets)
  const exists = (ref: string): boolean =>
    updates.some((one) => one.ref === ref) ||
    targets.includes(ref) ||
    git('for-each-ref', '--count=1', ref) !== ''
  const held = led.filter(({ update, target }) =>
    [update.ref, target].some((one) => isHeld(one, all) || shadows(one, refs, exists)),
  )
  return Object.fromEntries(
    held.map(({ update, target }) => [
      target === update.ref ? target : `${update.ref} (${target})`,
      describeUpdate(update, git) + namesakesText(update, target, exists),
    ]),
  )
}

/** A pre-receive hook: returns if the push touches no held ref, or after a person has approved exactly what it does to them. */
export const guardGit = async (config: GuardConfig, io: Io): Promise<void> => {
  const updates = parseUpdates(await io.stdin.text())
  // git starts a hook in the repository.
  const repository = realpathSync(io.cwd)
  const git = createGit(repository, io.env)
  const look = () => heldBy(updates, config.git!.refs, { repository, git })
  const held = look()
  const count = Object.keys(held).length
  if (count === 0) return
  if (count > mostRefs)
    throw failure(
      'guard_too_long',
      `The push changes ${count} guarded refs, and an approver is asked about at most ${mostRefs}: ${nothing}`,
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
      ...held,
      run: newRun(),
    },
  })
  // Another push can make a ref that this one shares its name with, or leads to.
  const recheck = (): void => {
    if (!isDeepStrictEqual(look(), held))
      throw failure(
        'refs_changed',
        `Other refs of the repository changed meanwhile, and the approver read what was before: ${nothing}`,
        'Push again',
      )
  }
  await hold(config, { subject, account: name, nothing, recheck }, io)
}
