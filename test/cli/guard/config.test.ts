import { describe, expect, test } from 'vitest'
import { exampleConfig, parseConfig } from '../../../src/cli/guard/config.ts'
import { SvcError } from '../../../src/core/errors.ts'

const file = '/etc/svc/guard.yaml'

/** The example with some lines replaced. */
const parse = (changes: Record<string, string> = {}) => {
  const text = Object.entries(changes).reduce(
    (before, [name, line]) => before.replace(new RegExp(`^${name}:.*$`, 'm'), line),
    exampleConfig,
  )
  try {
    return parseConfig(text, file)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const issues = error.issues?.map(({ field, message }) => `${field} ${message}`).join('\n')
    return issues ?? error.message
  }
}

describe('the configuration of a guard', () => {
  test('that the help shows is valid', () => {
    expect(parse()).toMatchObject({
      issuer: 'https://svc.example.com',
      timeout: 120,
      people: [{ mobile: '+12025550101', accounts: ['alice'] }, { mobile: '+12025550102' }],
    })
  })

  test.each([
    [{ organization: 'organisation: acme' }, 'organisation is not a known field; did you mean organization?'],
    [{ need: 'need: 3' }, 'need in /etc/svc/guard.yaml must be at most the number of people, 2, not 3'],
    [{ need: 'need: 0' }, 'need must be 1 or more'],
    [{ need: 'need: 2', '  - mobile': '  - mobile: +12025550102' }, 'must name each person once'],
    [{ '  - mobile': '  - mobile: "@sre"' }, 'must be a phone number in E.164'],
    [{ timeout: 'timeout: 5' }, 'timeout must be 10 or more seconds'],
    [{ timeout: 'timeout: 120.5' }, 'timeout must be a whole number'],
    [{ ssh: 'ssh: {held: []}' }, 'ssh.held must name at least one'],
    [{ ssh: 'ssh: {held: [scp]}' }, 'ssh.held[0] must be shell, command or sftp'],
    [{ git: 'git: {refs: [main]}' }, 'git.refs[0] must be a ref such as refs/heads/main'],
    [{ git: 'git: {refs: ["refs/heads/v*"]}' }, 'git.refs[0] must be a ref such as refs/heads/main'],
    [{ git: 'git: {refs: ["refs/*/main"]}' }, 'git.refs[0] must be a ref such as refs/heads/main'],
    [{ exec: 'exec: {files: allow}' }, 'exec.files must be refuse or copy'],
    [{ jwks: 'jwks: 7' }, 'jwks must be text'],
    [{ service: 'service: http://svc.example.com/admin/public/api' }, 'must use https'],
    [{ service: 'service: ftp://svc.example.com' }, 'must start with http:// or https://'],
    [
      { timeout: 'allow_dev: true' },
      'allow_dev in /etc/svc/guard.yaml works only with a service on this machine',
    ],
  ])('refuses %j', (changes, says) => {
    expect(parse(changes as unknown as Record<string, string>)).toContain(says)
  })

  test.each(['', '---\n- a', 'a: [', 'a: 1\na: 2', 'x'.repeat(1000)])('refuses %j', (text) => {
    expect(() => parseConfig(text, file)).toThrow(SvcError)
  })

  test.each(['12025550101', '+1202', '+1202555010x', '+19 2025550101'])(
    'refuses the approver %s',
    (mobile) => {
      const text = exampleConfig.replace('+12025550102', `"${mobile}"`)
      expect(() => parseConfig(text, file)).toThrow('1 error')
    },
  )
})
