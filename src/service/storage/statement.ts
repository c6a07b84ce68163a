import type { Compilable, CompiledQuery, QueryResult } from 'kysely'
import type { Db } from './schema.ts'

type Values = Record<string, unknown>

/** Stands for the value of this name until the statement runs. */
type Placeholder = { placeholder: string }

const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'object' && value !== null && 'placeholder' in value

const placeholders = <V extends Values>(): V =>
  new Proxy({} as V, { get: (_, name): Placeholder => ({ placeholder: String(name) }) })

/**
 * A query of fixed shape that is built once, and run with other values each time. For what goes with every request: Kysely
 * takes longer to build such a query than the store to run it. `values` has no keys before the statement runs: name each.
 * No value is undefined, and null is no value to compare with.
 */
export const statement = <V extends Values, R>(
  build: (db: Db, values: V) => Compilable<R>,
): ((db: Db, values: V) => Promise<QueryResult<R>>) => {
  // By the executor, as each engine has its own SQL.
  const built = new WeakMap<object, CompiledQuery<R>>()
  return (db, values) => {
    const executor = db.getExecutor()
    let query = built.get(executor)
    if (!query) built.set(executor, (query = build(db, placeholders<V>()).compile()))
    const { sql, query: node, queryId } = query
    const parameters = query.parameters.map((one) => (isPlaceholder(one) ? values[one.placeholder] : one))
    return executor.executeQuery<R>({ sql, query: node, queryId, parameters })
  }
}
