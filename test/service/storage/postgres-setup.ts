import { startPostgres } from './postgres-server.ts'

/** One PostgreSQL for all test files. */
export default async (): Promise<() => void> => {
  const server = await startPostgres()
  process.env['SVC_TEST_DATABASE_URL'] = server.url('postgres')
  return server.stop
}
