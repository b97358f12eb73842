import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import { ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'

const INTRODUCTION = `# Errors

Every refusal has the body \`{"error": {"code", "message", "request_id"}}\`. The header \`Error-Reason\` says more than the code, for programs, and
\`Link\` with \`rel="help"\` leads to its section here. Codes may get more reasons: take one that you do not know for its code.

## What to repeat

After 429 and 503 repeat the request \`Retry-After\` seconds later. After 500, 503, 504 or a broken connection it may have taken effect: repeat a POST
with the same \`Idempotency-Key\`, which is kept for 24 hours (an answer that is given again has \`Idempotent-Replayed: true\`), PUT and DELETE as they
are. A repeat of what took effect may be refused: 404 after a DELETE is success; else read the resource, as after \`precondition_failed\` of a PUT
with \`If-Match\`.

A key may send 6,000 requests a minute, and 200 at once, unless the platform has set other limits. \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\`
are about those at once, \`X-RateLimit-Reset\` is the Unix second at which all are back.`

const ORIGIN = `\`npm run generate:api\` writes this page.`

/** The text of docs/errors.md. */
export function errorsDocument(): string {
  const sections = Object.entries(ERROR_REASONS).map(([code, reasons]) => {
    const status = ERROR_STATUS[code as ErrorCode]
    // No two headings have one anchor: two codes may have one reason, and a reason the name of its code.
    const ofReasons = Object.entries(reasons).map(([reason, text]) => `### \`${reason}\` (${status})\n\n${text}`)
    return [`## ${status} \`${code}\``, ...ofReasons]
  })
  return `${[INTRODUCTION, ...sections.flat(), ORIGIN].join('\n\n')}\n`
}
