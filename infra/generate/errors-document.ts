import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import { ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'
import { table } from './markdown-table.ts'

const INTRODUCTION = `# Errors

\`npm run generate:api\` writes this page from \`libs/contracts/src/error-reasons.ts\`; a test compares the two. The gateway serves it as \`/docs/errors\`.

Every refusal has the body \`{"error": {"code", "message", "request_id"}}\`. The header \`Error-Reason\` says more than the code, for programs, and
\`Link\` with \`rel="help"\` leads to its line here. Codes may get more reasons: take one that you do not know for its code.`

/** The text of docs/errors.md. */
export function errorsDocument(): string {
  const sections = Object.entries(ERROR_REASONS).map(([code, reasons]) => [
    `## \`${code}\` (${ERROR_STATUS[code as ErrorCode]})`,
    table(
      ['reason', 'what it means, and what to do'],
      Object.entries(reasons).map(([reason, text]) => [`\`${reason}\``, text]),
    ),
  ])
  return `${[INTRODUCTION, ...sections.flat()].join('\n\n')}\n`
}
