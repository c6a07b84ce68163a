import { describe, expect, test } from 'vitest'
import type { Policy } from '../../../src/contract/policy.ts'
import { readDocument } from '../../../src/cli/declare/document.ts'
import { SvcError } from '../../../src/core/errors.ts'

const head = 'svc: 1\norganization: { slug: acme, name: Acme }\n'
const ada = '{ mobile: "+12025550101", first_name: Ada, last_name: L, email: ada@acme.example }'

/** The problems of a text, each as `[place and field, sentence]`. */
const wrong = (text: string): string[] => {
  try {
    readDocument(text, 'org.yaml')
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    expect(error.exit).toBe('usage')
    return error.issues?.map(({ field, message }) => `${field} ${message}`) ?? [error.message]
  }
  throw new Error('nothing is wrong with it')
}

describe('a file', () => {
  test('is compared in every setting of the policy', () => {
    const policy = {
      ip_allow: ['203.0.113.0/24'],
      device_trust: true,
      require_number: true,
      factors: ['biometric'],
      separation: 'strict',
      not_requester: true,
      deny_check: 'presence',
      report_only: ['location'],
      device_proof: 'otp',
      recovery_delay_s: 60,
      session_max_s: 3600,
      attestation: 'direct',
      allowed_aaguids: ['08987058-cadc-4b81-b6e1-30de50dcbe96'],
      authenticators: ['platform'],
      device_bound_only: true,
    } satisfies Required<Policy>
    const text = JSON.stringify({ svc: 1, organization: { slug: 'acme', name: 'Acme', policy } })
    expect(readDocument(text, 'org.yaml').rows.organization).toEqual([
      { key: 'acme', fields: { name: 'Acme', ...policy } },
    ])
  })

  test('contains the wanted state, with values in the canonical spelling of the service', () => {
    const { slug, rows } = readDocument(
      `${head}
timeslots:
  - { name: Nights, days: [sun, mon], start: 22:00, end: "06:00", timezone: UTC }
auth_codes: [{ label: Berlin, expires_at: 2030-01-31T18:00:00+01:00 }]
users:
  - mobile: +1 202 555 0101
    first_name: ' Ada '
    last_name: L
    email: ada@acme.example
    timeslots: []
`,
      'org.yaml',
    )
    expect(slug).toBe('acme')
    expect(rows).toEqual({
      organization: [{ key: 'acme', fields: { name: 'Acme' } }],
      timeslots: [
        { key: 'Nights', fields: { days: ['mon', 'sun'], start: '22:00', end: '06:00', timezone: 'UTC' } },
      ],
      auth_codes: [{ key: 'Berlin', fields: { expires_at: '2030-01-31T17:00:00.000Z' } }],
      users: [
        {
          key: '+12025550101',
          fields: { first_name: 'Ada', last_name: 'L', email: 'ada@acme.example', timeslots: [] },
        },
      ],
    })
  })

  test.each(['mon-wed', '[mon-tue, wed]', '[mon, tue, wed]'])('accepts days as %s', (days) => {
    const slot = `{ name: Nights, days: ${days}, start: 22:00, end: "06:00", timezone: UTC }`
    const { rows } = readDocument(
      `${head}timeslots: [${slot}]\nusers: [${ada.replace(' }', `, timeslots: [${slot}] }`)}]`,
      'x',
    )
    expect(rows.timeslots?.[0]?.fields['days']).toEqual(['mon', 'tue', 'wed'])
    expect(rows.users?.[0]?.fields['timeslots']).toMatchObject([{ days: ['mon', 'tue', 'wed'] }])
  })

  test('may be JSON, and may have a byte order mark and Windows line endings', () => {
    const { rows } = readDocument(
      `{"svc":1,"organization":{"slug":"acme","name":"Acme"},"geofences":[]}`,
      'x',
    )
    expect(rows.geofences).toEqual([])
    expect(readDocument(`\uFEFF${head}`.replaceAll('\n', '\r\n'), 'x').slug).toBe('acme')
  })

  test('accepts a mobile number without quotes', () => {
    const { rows } = readDocument(`${head}users:\n  - ${ada.replaceAll('"', '')}\n`, 'x')
    expect(rows.users?.[0]?.key).toBe('+12025550101')
  })

  test('accepts aliases', () => {
    const slots = `timeslots:
  - { name: A, days: &days [mon, tue], start: "08:00", end: "09:00", timezone: UTC }
  - { name: B, days: *days, start: "08:00", end: "09:00", timezone: UTC }\n`
    expect(readDocument(head + slots, 'x').rows.timeslots?.[1]?.fields.days).toEqual(['mon', 'tue'])
  })
})

describe('an invalid file is rejected with line and column:', () => {
  test.each<[string, string, string[]]>([
    [
      'an unknown section',
      `${head}geofence: []\n`,
      ['org.yaml:3:1 geofence is not a known field; did you mean geofences?'],
    ],
    [
      'an unknown field',
      `${head}users:\n  - ${ada.replace('email:', 'emial: x, email:')}\n`,
      ['org.yaml:4:62 users[0].emial is not a known field; did you mean email?'],
    ],
    [
      'a missing field',
      `${head}users:\n  - { mobile: "+12025550101" }\n`,
      [
        'org.yaml:4:5 users[0].email is missing',
        'org.yaml:4:5 users[0].first_name is missing',
        'org.yaml:4:5 users[0].last_name is missing',
      ],
    ],
    ['a duplicate key', `${head}svc: 1\n`, ['org.yaml:3:1 has a duplicate key "svc"']],
    [
      'tab indentation',
      `${head}users:\n\t- ${ada}\n`,
      ['org.yaml:4:1 this line is indented with a tab; YAML requires spaces'],
    ],
    [
      'YAML 1.1, which reads 0144 as 100',
      '%YAML 1.1\n---\nsvc: 1\norganization: { slug: acme, name: Acme }\n',
      ['org.yaml:1:1 must be YAML 1.2: remove the line %YAML 1.1'],
    ],
    [
      'a second document',
      `${head}---\n${head}`,
      ['org.yaml:3:1 a second document starts here; a file describes one organization'],
    ],
    [
      'no YAML',
      'svc: [1\n',
      [
        'org.yaml:2:1 is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    [
      'a tag',
      `svc: !!python/object 1\norganization: { slug: a, name: A }\n`,
      [expect.stringContaining('org.yaml:1:6 is not valid YAML: Unresolved tag') as string],
    ],
    ['another version', head.replace('1', '2'), ['org.yaml:1:1 svc must be 1: the version of this format']],
    ['a list', '- 1\n', ['org.yaml:1:1 input must be an object']],
    [
      'a secret',
      `${head}idp: { provider: okta, client_id: x, client_secret: s3cret }\n`,
      ['org.yaml:3:38 idp.client_secret must be (kept): a secret does not belong in this file'],
    ],
    [
      'an invalid phone number',
      `${head}users:\n  - ${ada.replace('+12025550101', '2025550101')}\n`,
      ['org.yaml:4:7 users[0].mobile must start with + and the dialing prefix, such as +12025550101'],
    ],
    [
      'a number in place of text',
      `${head}users:\n  - ${ada.replace('"+12025550101"', '12025550101')}\n`,
      ['org.yaml:4:7 users[0].mobile must be text: put it in quotes'],
    ],
    [
      'two users with one number, in different spellings',
      `${head}users:\n  - ${ada}\n  - ${ada.replace('+1202', '+1 202 ')}\n`,
      ['org.yaml:5:7 users[1].mobile is the same as in users[0]; each must be unique'],
    ],
    [
      'two geofences with one name',
      `${head}geofences:\n${'  - { name: HQ, latitude: 1, longitude: 2, radius: 3 }\n'.repeat(2)}`,
      ['org.yaml:5:7 geofences[1].name is the same as in geofences[0]; each must be unique'],
    ],
    [
      'no network',
      'svc: 1\norganization: { slug: acme, name: A, policy: { ip_allow: [10.0.0.0/33] } }\n',
      [
        'org.yaml:2:59 organization.policy.ip_allow[0] must be a network such as 203.0.113.0/24, or an address',
      ],
    ],
    [
      'an invalid time zone',
      `${head}timeslots:\n  - { name: A, days: [mon], start: "08:00", end: "09:00", timezone: Europe/Atlantis }\n`,
      ['org.yaml:4:59 timeslots[0].timezone must be an IANA time zone such as Europe/Berlin or UTC'],
    ],
    [
      'a time slot without a duration',
      `${head}timeslots:\n  - { name: A, days: [mon], start: "08:00", end: "08:00", timezone: UTC }\n`,
      ['org.yaml:4:45 timeslots[0].end must differ from start'],
    ],
    [
      'an id',
      `${head}geofences:\n  - { id: 3, name: HQ, latitude: 1, longitude: 2, radius: 3 }\n`,
      ['org.yaml:4:7 geofences[0].id is not a known field'],
    ],
    ['a prototype', `${head}__proto__: { users: [] }\n`, ['org.yaml:3:1 __proto__ is not a known field']],
  ])('%s', (_, text, issues) => {
    expect(wrong(text)).toEqual(issues)
  })

  test('an empty file', () => {
    expect(wrong('')).toEqual(['org.yaml is empty'])
    expect(wrong('# only a comment\n')).toEqual(['org.yaml is empty'])
  })

  test('aliases that expand exponentially', () => {
    const levels = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++) {
      const [name, before] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)]
      levels.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`)
    }
    expect(wrong(levels.join('\n'))[0]).toMatch(/aliases \(\*name\) are too large/)
    const reserved = 'starts with * or another character of YAML: put it in quotes, such as "**" or "@sre"'
    expect(wrong(`${head}users: *nobody\n`)).toEqual([`org.yaml:3:8 ${reserved}`])
    expect(wrong(`${head}rules: [{ match: { argv: [rm, **], tool: [*_delete] } }]\nusers: @a\n`)).toEqual([
      `org.yaml:4:8 ${reserved}`,
    ])
    expect(wrong(`${head}rules: [{ match: { argv: [rm, **], tool: [*_delete] } }]\n`)).toEqual([
      `org.yaml:3:31 ${reserved}`,
      `org.yaml:3:43 ${reserved}`,
    ])
    expect(wrong(`${head}users: &users [*users]\n`)[0]).toMatch(/aliases|must/)
  })

  test('endless nesting, and twenty thousand keys', () => {
    const deep = wrong(`users: ${'['.repeat(100_000)}`)
    expect(deep[0]).toMatch(/too deep|is not valid YAML/)
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join('\n')
    expect(wrong(keys).length).toBeGreaterThan(0)
  })
})
