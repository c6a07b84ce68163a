import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { svc } from '../../e2e/processes.ts'
import { at, config, launcher } from './host.ts'
import { hasRun, host, touch } from './stage.ts'

export const tryConfigurations = (): void => {
  describe('a configuration', () => {
    test.each([
      ['belongs to the account', () => chownSync(config, host.ids.uid, 0), 'belongs to user'],
      ['is writable by a group', () => chmodSync(config, 0o664), 'Others than root can write to'],
      [
        'is a link',
        () => {
          renameSync(config, `${config}.real`)
          symlinkSync(`${config}.real`, config)
        },
        'is a symbolic link',
      ],
      [
        'is a pipe',
        () => {
          rmSync(config)
          execFileSync('/usr/bin/mkfifo', [config])
        },
        'is not a regular file',
      ],
      ['is absent', () => rmSync(config), 'does not exist'],
      ['is in a folder of the account', () => chownSync('/etc/svc', host.ids.uid, 0), 'belongs to user'],
      ['has an unknown setting', () => writeFileSync(config, 'approver: x\n'), 'guard.yaml:1:1 approver'],
      [
        'has an ask key that everybody can read',
        () => chmodSync('/etc/svc/guard.key', 0o644),
        'everybody can read',
      ],
      [
        'has keys that others can write',
        () => chmodSync('/etc/svc/guard-keys.json', 0o666),
        'Others than root',
      ],
    ])('that %s lets nothing run, and svc guard check says why', async (_, spoil, says) => {
      spoil()
      try {
        const { exit, stderr } = await touch().ended
        expect([101, 102]).toContain(exit)
        expect(stderr).toContain(says)
        const checked = await svc(['guard', 'check', '--offline'])
        expect({ exit: checked.exit, ran: hasRun() }).toEqual({ exit: 1, ran: false })
        expect(checked.stdout).toContain(says)
      } finally {
        rmSync(config, { force: true })
        rmSync(`${config}.real`, { force: true })
        chownSync('/etc/svc', 0, 0)
        chmodSync('/etc/svc/guard.key', 0o640)
        chmodSync('/etc/svc/guard-keys.json', 0o644)
      }
    })

    test('that is right passes svc guard check, which prints lines for sudo, sshd and git', async () => {
      const { ended } = host.asAccount([process.execPath, at('bin/svc.js'), 'guard', 'check'])
      const { exit, stdout, stderr } = await ended
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
      for (const section of ['exec -- *', 'ssh --as alice', 'git'])
        expect(stdout).toContain(`${launcher} ${section}`)
    })
  })
}
