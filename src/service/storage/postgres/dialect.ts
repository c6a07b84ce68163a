import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type QueryResult,
} from 'kysely'
import type { Db, Tables } from '../schema.ts'

/** Kysely, with a function that runs its queries. */
export const queriesWith = (run: <R>(query: CompiledQuery) => Promise<QueryResult<R>>): Db => {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (any) => new PostgresIntrospector(any),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  db.getExecutor().executeQuery = run
  return db
}
