import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { account, at, home, launcher } from './host.ts'
import { answer, approver, host, record } from './stage.ts'

const work = join(home, 'work')
const repository = at('app.git')
const git = (args: string[], env: Record<string, string> = {}) =>
  host.asAccount(['/usr/bin/git', '-c', 'user.name=Ada', '-c', 'user.email=ada@acme.example', ...args], {
    cwd: work,
    env,
  })
const done = async (...args: string[]): Promise<string> => {
  const { exit, stdout, stderr } = await git(args).ended
  if (exit !== 0) throw new Error(stderr)
  return stdout.trim()
}
const commit = async (message: string): Promise<string> => {
  await done('commit', '-q', '--allow-empty', '-m', message)
  return done('rev-parse', 'HEAD')
}
const pushed = (ref: string): string =>
  execFileSync(
    'git',
    ['-c', 'safe.directory=*', '-C', repository, 'for-each-ref', '--format=%(objectname)', ref],
    {
      encoding: 'utf8',
    },
  ).trim()

const inRepository = (...args: string[]): void => {
  execFileSync('git', ['-c', 'safe.directory=*', '-C', repository, ...args])
  execFileSync('chown', ['-R', account, repository])
}

export const tryGit = (): void => {
  describe('svc guard git, started by git', () => {
    beforeAll(async () => {
      execFileSync('git', ['init', '-q', '--bare', '-b', 'main', repository])
      execFileSync('chown', ['-R', account, repository])
      writeFileSync(join(repository, 'hooks/pre-receive'), `#!/bin/sh\nexec ${launcher} git\n`)
      chmodSync(join(repository, 'hooks/pre-receive'), 0o755)
      mkdirSync(work)
      chownSync(work, host.ids.uid, host.ids.gid)
      await done('init', '-q', '-b', 'main')
      await done('remote', 'add', 'origin', repository)
    })

    test('accepts a push after an approval of exactly its refs, and flags a forced one', async () => {
      const first = await commit('Start')
      const created = git(['push', '-q', 'origin', 'main'])
      const id = await created.asked()
      const { subject } = await record(id)
      expect(subject.summary).toBe(`Call git push on ${hostname()}:${repository}`)
      expect(subject.data.arguments).toMatchObject({
        account,
        'refs/heads/main': `create ${first}, newest: Start`,
      })
      expect(pushed('refs/heads/main')).toBe('')
      await answer(id, approver)
      expect((await created.ended).exit).toBe(0)
      expect(pushed('refs/heads/main')).toBe(first)

      const second = await commit('More')
      const denied = git(['push', '-q', 'origin', 'main'])
      const next = await denied.asked()
      expect((await record(next)).subject.data.arguments['refs/heads/main']).toBe(
        `${first} to ${second}, 1 commit, newest: More`,
      )
      await answer(next, approver, 'deny')
      const { exit, stderr } = await denied.ended
      expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining('the push is refused') })
      expect(pushed('refs/heads/main')).toBe(first)

      await done('checkout', '-q', '--orphan', 'other')
      const third = await commit('Rewritten')
      const forced = git(['push', '-q', '--force', 'origin', 'other:main'])
      const last = await forced.asked()
      expect((await record(last)).subject.data.arguments['refs/heads/main']).toBe(
        `FORCED ${first} to ${third}, drops 1 commit, newest: Rewritten`,
      )
      await answer(last, approver)
      expect((await forced.ended).exit).toBe(0)
      expect(pushed('refs/heads/main')).toBe(third)
    })

    test('accepts other refs without an approval, and a deletion only with one', async () => {
      const id = await commit('Feature')
      expect((await git(['push', '-q', 'origin', 'HEAD:refs/heads/feature']).ended).exit).toBe(0)
      expect(pushed('refs/heads/feature')).toBe(id)
      const removal = git(['push', '-q', 'origin', ':refs/heads/main', ':refs/heads/feature'])
      const request = await removal.asked()
      expect((await record(request)).subject.data.arguments['refs/heads/main']).toMatch(
        /^DELETE, was [0-9a-f]{40}$/,
      )
      await answer(request, approver, 'deny')
      expect((await removal.ended).exit).toBe(1)
      // A push is accepted or refused as a whole.
      expect(pushed('refs/heads/feature')).toBe(id)
    })

    test('holds a push to a name that leads to a held ref', async () => {
      const before = pushed('refs/heads/main')
      inRepository('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
      await commit('Around the back')
      const running = git(['push', '-q', '--force', 'origin', 'HEAD:alias'])
      const id = await running.asked()
      expect((await record(id)).subject.data.arguments['refs/heads/alias (refs/heads/main)']).toContain(
        before,
      )
      await answer(id, approver, 'deny')
      expect((await running.ended).exit).toBe(1)
      expect(pushed('refs/heads/main')).toBe(before)
    })

    test('holds a push to what a held ref leads to, and refuses one ref by two names', async () => {
      const before = pushed('refs/heads/main')
      await commit('By two names')
      const twice = await git(['push', '-q', '--force', 'origin', 'HEAD:main', 'HEAD:alias']).ended
      expect([twice.exit, twice.stderr]).toEqual([1, expect.stringContaining('refs/heads/main twice')])
      inRepository('update-ref', 'refs/heads/trunk', before)
      inRepository('symbolic-ref', 'refs/heads/main', 'refs/heads/trunk')
      try {
        const running = git(['push', '-q', '--force', 'origin', 'HEAD:trunk'])
        const id = await running.asked()
        expect((await record(id)).subject.data.arguments['refs/heads/trunk']).toContain(before)
        await answer(id, approver, 'deny')
        expect((await running.ended).exit).toBe(1)
      } finally {
        inRepository('symbolic-ref', '--delete', 'refs/heads/main')
        inRepository('update-ref', 'refs/heads/main', before)
        inRepository('update-ref', '-d', 'refs/heads/trunk')
      }
      expect(pushed('refs/heads/main')).toBe(before)
    })

    test('holds a push that creates what a held ref leads to', async () => {
      const before = pushed('refs/heads/main')
      await commit('Not there yet')
      inRepository('symbolic-ref', 'refs/heads/main', 'refs/heads/middle')
      inRepository('symbolic-ref', 'refs/heads/middle', 'refs/heads/next')
      try {
        const running = git(['push', '-q', '--force', 'origin', 'HEAD:next'])
        await answer(await running.asked(), approver, 'deny')
        expect((await running.ended).exit).toBe(1)
      } finally {
        inRepository('symbolic-ref', '--delete', 'refs/heads/main')
        inRepository('symbolic-ref', '--delete', 'refs/heads/middle')
        inRepository('update-ref', 'refs/heads/main', before)
      }
    })

    test.each([
      ['refs/heads/linked', 'as git once wrote symbolic refs'],
      ['linked', 'as a link of files'],
    ])('holds a push that creates what a held ref leads to by the link %s, %s', async (link) => {
      const before = pushed('refs/heads/main')
      await commit('Linked')
      const path = join(repository, 'refs', 'heads', 'main')
      rmSync(path, { force: true })
      symlinkSync(link, path)
      try {
        const running = git(['push', '-q', '--force', 'origin', 'HEAD:linked'])
        await answer(await running.asked(), approver, 'deny')
        expect((await running.ended).exit).toBe(1)
      } finally {
        rmSync(path)
        inRepository('update-ref', 'refs/heads/main', before)
      }
    })

    test('shows a branch with the name of a held tag, also if the push creates both or the branch was there', async () => {
      const release = await commit('Release')
      const both = git(['push', '-q', 'origin', 'HEAD:refs/tags/v9', 'HEAD:refs/heads/v9'])
      const id = await both.asked()
      expect((await record(id)).subject.data.arguments).toMatchObject({
        'refs/tags/v9': `create ${release}, newest: Release; SAME NAME: refs/heads/v9`,
        'refs/heads/v9': `create ${release}, newest: Release; SAME NAME: refs/tags/v9`,
      })
      await answer(id, approver, 'deny')
      expect((await both.ended).exit).toBe(1)
      await done('push', '-q', 'origin', 'HEAD:refs/heads/v9')
      const tag = git(['push', '-q', 'origin', 'HEAD:refs/tags/v9'])
      const later = await tag.asked()
      expect((await record(later)).subject.data.arguments['refs/tags/v9']).toContain(
        'SAME NAME: refs/heads/v9',
      )
      await answer(later, approver, 'deny')
      expect((await tag.ended).exit).toBe(1)
      inRepository('update-ref', '-d', 'refs/heads/v9')
    })

    test('refuses a tag if somebody pushes a branch of its name while a person reads', async () => {
      await commit('Meanwhile')
      const tag = git(['push', '-q', 'origin', 'HEAD:refs/tags/v10'])
      const id = await tag.asked()
      await done('push', '-q', 'origin', 'HEAD:refs/heads/v10')
      await answer(id, approver)
      const { exit, stderr } = await tag.ended
      expect([exit, stderr]).toEqual([1, expect.stringContaining('changed meanwhile')])
      expect(pushed('refs/tags/v10')).toBe('')
      expect((await record(id)).used_at).toBeNull()
      inRepository('update-ref', '-d', 'refs/heads/v10')
    })

    test('takes nothing from the variables of the one who pushes', async () => {
      const before = pushed('refs/heads/main')
      await commit('Sneak in')
      const env = {
        NODE_OPTIONS: '--import=data:text/javascript,process.exit(0)',
        SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api',
        GIT_REPLACE_REF_BASE: 'refs/x/',
      }
      const running = git(['push', '-q', '--force', 'origin', 'HEAD:main'], env)
      await answer(await running.asked(), approver, 'deny')
      expect((await running.ended).exit).toBe(1)
      expect(pushed('refs/heads/main')).toBe(before)
    })

    test.each([
      '',
      'x',
      `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main`,
      `${'0'.repeat(40)} refs/heads/main\n`,
    ])('refuses the input %j, which git does not send', async (input) => {
      const running = host.asAccount([launcher, 'git'], { cwd: repository })
      running.child.stdin!.end(input)
      const { exit, stderr } = await running.ended
      expect({ exit, stderr }).toEqual({
        exit: 101,
        stderr: expect.stringContaining('the push is refused'),
      })
    })
  })
}
