import { describe, expect, test } from 'vitest'
import { run } from '../../src/cli/main.ts'
import { json } from '../fake-hosted.ts'
import { memoryIo } from './memory-io.ts'
import { service, toService } from './other-service.ts'

const odd = [null, 7, 'x', [], { id: 1, name: 'Gate', latitude: 52, longitude: 13, radius: 9, is_active: 1 }]

describe('a list with rows that are no records', () => {
  test.each([
    ['geofence', 'map', '--org', '1'],
    ['timeslot', 'week', '--org', '1'],
    ['geofence', 'export', '--org', '1', '--format', 'ndjson'],
    ['geofence', 'list', '--org', '1'],
    ['export', '--org', '1'],
    ['doctor'],
  ])('breaks nothing in svc %s %s', async (...argv) => {
    service.always((seen, response) =>
      json(200, {
        status: 'success',
        message: 'OK',
        data: seen.path.endsWith('/organization/1') ? { id: 1, slug: 'acme', name: 'Acme' } : odd,
      })(seen, response),
    )
    const io = memoryIo({ env: toService() })
    await run(
      argv.filter((word) => word !== undefined),
      io,
    )
    expect(io.err()).not.toContain('inside svc')
    if (argv.includes('map') || argv.includes('list')) expect(io.out()).toContain('Gate')
  })
})
