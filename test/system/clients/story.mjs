// What every client does: it lists the tools and asks twice. The test is the approver, and reads what is printed.

const [, , mobile] = process.argv

/** Of the service (HTTP), or of the command that starts `svc mcp` (stdio). */
export const server = JSON.parse(process.env.SERVER)
export const bearer = server.headers ?? {}

/** `list` answers the names of the tools, `ask` the text of a result. */
export const play = async ({ list, ask, close }) => {
  const request = (action) => ask({ action, approver_mobile: mobile, timeout_s: 60 })
  const tools = await list()
  const approved = await request('Deploy 4.2')
  const denied = await request('Drop the table')
  await close?.()
  console.log(JSON.stringify({ tools, approved, denied }))
  process.exit(0)
}

export const textOf = (result) =>
  result.content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('\n')
