import { openPostgres } from '../../../src/service/storage/postgres/open.ts'
import { createDatabase } from './postgres-databases.ts'
import { startPostgres } from './postgres-server.ts'

/** One PostgreSQL for all test files, with a database to copy that has the schema. */
export default async (): Promise<() => void> => {
  const server = await startPostgres()
  process.env['SVC_TEST_DATABASE_URL'] = server.url('postgres')
  await createDatabase('svc_template')
  const storage = await openPostgres({ url: server.url('svc_template') })
  await storage.close()
  return server.stop
}
