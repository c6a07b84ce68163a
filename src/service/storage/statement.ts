import type { Compilable, CompiledQuery, QueryResult } from 'kysely'
import type { Asking } from './as-asked.ts'
import type { Db } from './schema.ts'

type Values = Record<string, unknown>

type Placeholder = { placeholder: string }

const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'object' && value !== null && 'placeholder' in value

const placeholders = <V extends Values>(): V =>
  new Proxy({} as V, { get: (_, name): Placeholder => ({ placeholder: String(name) }) })

/**
 * A query of fixed shape that is built once and run with different values. For queries of every request, because Kysely takes
 * longer to build one than the store takes to run it. While it is built, `values` has no keys, so name each one, or several
 * with `named`. A value must not be undefined, and a comparison with null never matches.
 */
export const statement = <V extends Values, R>(
  build: (db: Db, values: V) => Compilable<R>,
): ((db: Db, values: V) => Promise<QueryResult<R>>) => {
  // By executor, because each engine has its own SQL.
  const built = new WeakMap<object, CompiledQuery<R>>()
  return (db, values) => {
    const executor = db.getExecutor()
    let query = built.get(executor)
    if (!query) built.set(executor, (query = build(db, placeholders<V>()).compile()))
    const resolve = (one: unknown): unknown => (isPlaceholder(one) ? values[one.placeholder] : one)
    const { sql, query: node, queryId } = query
    const asking: Asking = { sql, query: node, queryId, parameters: query.parameters.map(resolve), resolve }
    return executor.executeQuery<R>(asking)
  }
}

/** These of the values of a statement. */
export const named = <V extends Values, const N extends keyof V>(values: V, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<V, N>
