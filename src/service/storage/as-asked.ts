import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type CompiledQuery,
  DeleteQueryNode,
  IdentifierNode,
  InsertQueryNode,
  type OperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  PrimitiveValueListNode,
  ReferenceNode,
  SelectAllNode,
  SelectQueryNode,
  UpdateQueryNode,
  ValueNode,
  ValuesNode,
} from 'kysely'
import { storeChanged } from './store-changed.ts'

// Whoever can replace a table by a view, or write the index of a file, answers a query with rows that its WHERE does not describe:
// each is genuine, and belongs to somebody else. So every row is compared with what was asked for.

type Query = CompiledQuery['query']
type Row = Record<string, unknown>
type Resolve = (value: unknown) => unknown

/** A query with its values; `resolve` returns the value of a placeholder that its nodes have instead. */
export type Asking = CompiledQuery & { resolve?: Resolve }

/** What each row of an answer must have in a column. */
type Expected = { column: string; operator: string; value: unknown }

const isStar = (selected: OperationNode): boolean =>
  SelectAllNode.is(selected) || (ReferenceNode.is(selected) && SelectAllNode.is(selected.column))

const columnOf = (node: OperationNode): string | undefined => {
  const column = ReferenceNode.is(node) ? node.column : node
  return ColumnNode.is(column) ? column.column.name : undefined
}

const tableOf = (node: OperationNode): string | undefined =>
  ReferenceNode.is(node) ? node.table?.table.identifier.name : undefined

/** Under which name the answer has what is selected; undefined if it is all columns, or an expression. */
const nameOf = (selected: OperationNode): string | undefined => {
  if (!AliasNode.is(selected)) return columnOf(selected)
  return IdentifierNode.is(selected.alias) ? selected.alias.name : undefined
}

/** Under which name a column is in the answer; undefined if it is not, or if something else may have that name. */
const nameInAnswer = (
  column: ReferenceNode,
  selections: readonly OperationNode[],
  hasOneTable: boolean,
): string | undefined => {
  const found = selections.filter((selected) => {
    const source = AliasNode.is(selected) ? selected.node : selected
    const isOfTable = hasOneTable || tableOf(source) === tableOf(column)
    return isOfTable && (isStar(source) || columnOf(source) === columnOf(column))
  })
  const name = found[0] && (nameOf(found[0]) ?? columnOf(column))
  const others = selections.filter((one) => !found.includes(one) && (isStar(one) || nameOf(one) === name))
  return found.length === 1 && others.length === 0 ? name : undefined
}

const partsOf = (query: Query) => {
  // The rows of a UNION are also those of another query.
  if (SelectQueryNode.is(query) && !query.setOperations)
    return { selections: query.selections, hasOneTable: query.from?.froms.length === 1 && !query.joins }
  if (UpdateQueryNode.is(query))
    return { selections: query.returning?.selections, hasOneTable: !query.from && !query.joins }
  if (DeleteQueryNode.is(query))
    return { selections: query.returning?.selections, hasOneTable: !query.using && !query.joins }
  return undefined
}

/** What a row that was inserted must be: a trigger could make it another one. */
const insertedBy = ({ columns = [], values, returning, onConflict }: InsertQueryNode): Expected[] => {
  const [row, ...others] = values && ValuesNode.is(values) ? values.values : []
  if (!row || others.length > 0 || onConflict?.updates) return []
  const inserted = PrimitiveValueListNode.is(row) ? row.values.map(ValueNode.create) : row.values
  const selected = returning?.selections.map(({ selection }) => selection) ?? []
  return columns.flatMap((own, at) => {
    const value = inserted[at]
    const column = nameInAnswer(ReferenceNode.create(own), selected, true)
    return column !== undefined && value && ValueNode.is(value)
      ? [{ column, operator: '=', value: value.value }]
      : []
  })
}

/** What a comparison expects of the answer; undefined if the answer does not show it, or it is no comparison with a value. */
const comparedBy = (
  { leftOperand: left, operator, rightOperand: right }: BinaryOperationNode,
  nameOfColumn: (column: ReferenceNode) => string | undefined,
): Expected | undefined => {
  if (!ReferenceNode.is(left) || !OperatorNode.is(operator)) return undefined
  const column = nameOfColumn(left)
  if (column === undefined) return undefined
  if (ValueNode.is(right)) return { column, operator: operator.operator, value: right.value }
  return PrimitiveValueListNode.is(right)
    ? { column, operator: operator.operator, value: right.values }
    : undefined
}

/** Returns the column by which a row is not what was asked for; undefined if nothing is known against it. */
type Judge = (row: Row, resolve: Resolve) => string | undefined

const judgeOf = (
  where: OperationNode,
  nameOfColumn: (column: ReferenceNode) => string | undefined,
): Judge => {
  if (ParensNode.is(where)) return judgeOf(where.node, nameOfColumn)
  if (AndNode.is(where) || OrNode.is(where)) {
    const [left, right] = [judgeOf(where.left, nameOfColumn), judgeOf(where.right, nameOfColumn)]
    return AndNode.is(where)
      ? (row, resolve) => left(row, resolve) ?? right(row, resolve)
      : (row, resolve) => left(row, resolve) && right(row, resolve)
  }
  const expected = BinaryOperationNode.is(where) ? comparedBy(where, nameOfColumn) : undefined
  return (row, resolve) => (expected && !holds(expected, row, resolve) ? expected.column : undefined)
}

const judgeFor = (query: Query): Judge => {
  if (InsertQueryNode.is(query)) {
    const all = insertedBy(query)
    return (row, resolve) => all.find((one) => !holds(one, row, resolve))?.column
  }
  const { selections = [], hasOneTable = false } = partsOf(query) ?? {}
  const where = 'where' in query ? query.where : undefined
  if (!where || selections.length === 0) return () => undefined
  const selected = selections.map(({ selection }) => selection)
  const changed = UpdateQueryNode.is(query) ? query.updates?.map(({ column }) => columnOf(column)) : []
  return judgeOf(where.where, (column) =>
    changed?.includes(columnOf(column)) ? undefined : nameInAnswer(column, selected, hasOneTable),
  )
}

const isSame = (found: unknown, value: unknown): boolean => {
  const meant = typeof value === 'boolean' ? Number(value) : value
  return found === meant || (found !== null && meant !== null && String(found) === String(meant))
}

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)

/** Of numbers and times, whose order is the same in every store. */
const ordered =
  (holds: (found: unknown, value: unknown) => boolean) =>
  (found: unknown, value: unknown): boolean => {
    const areKnown = typeof found === 'number' ? typeof value === 'number' : isTime(found) && isTime(value)
    return found !== null && (!areKnown || holds(found, value))
  }

const operators: Record<string, (found: unknown, value: unknown) => boolean> = {
  '=': isSame,
  is: isSame,
  in: (found, value) => (value as unknown[]).some((one) => isSame(found, one)),
  '<>': (found, value) => !isSame(found, value),
  'is not': (found, value) => !isSame(found, value),
  '<': ordered((found, value) => (found as number) < (value as number)),
  '<=': ordered((found, value) => (found as number) <= (value as number)),
  '>': ordered((found, value) => (found as number) > (value as number)),
  '>=': ordered((found, value) => (found as number) >= (value as number)),
}

/** What the columns of svc contain. A column of another type has values that compare, or have a MAC, like none of these. */
const isOwnType = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

const isKnown = (value: unknown): boolean =>
  value === null || (Array.isArray(value) ? value.every(isKnown) : typeof value !== 'object')

const holds = ({ column, operator, value }: Expected, row: Row, resolve: Resolve): boolean => {
  const compare = operators[operator]
  const meant = Array.isArray(value) ? value.map(resolve) : resolve(value)
  return !compare || !isKnown(meant) || compare(row[column], meant)
}

/** What is known of a query: how to judge a row, and whether each is another row of one table, so that no two have one id. */
type Known = { judge: Judge; isOfOneTable: boolean }

const known = new WeakMap<Query, Known>()

const knownOf = (query: Query): Known => {
  const before = known.get(query)
  if (before) return before
  const isOfOneTable =
    SelectQueryNode.is(query) &&
    partsOf(query)?.hasOneTable === true &&
    !query.groupBy &&
    query.selections?.some(({ selection }) => isStar(selection)) === true
  const now = { judge: judgeFor(query), isOfOneTable }
  known.set(query, now)
  return now
}

/**
 * Throws 409 `store_changed` if a row of an answer is not what the WHERE of its query says, as far as its columns show, has a value
 * of a type that no column has, or the id of another row.
 */
export const requireAsked = (
  { query, resolve = (value) => value }: Pick<Asking, 'query' | 'resolve'>,
  rows: readonly unknown[],
): void => {
  if (rows.length === 0) return
  const { judge, isOfOneTable } = knownOf(query)
  for (const row of rows as readonly Row[]) {
    for (const [column, value] of Object.entries(row))
      if (!isOwnType(value)) throw storeChanged(`it answered with a value of another type (${column})`)
    const wrong = judge(row, resolve)
    if (wrong !== undefined) throw storeChanged(`it answered with a row that was not asked for (${wrong})`)
  }
  if (rows.length === 1 || !isOfOneTable) return
  const ids = (rows as readonly Row[]).flatMap(({ id }) => id ?? [])
  if (new Set(ids).size < ids.length) throw storeChanged('it answered with two rows of one id')
}
