import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiFailure, textOf } from '../api/failure.ts'

interface AnswerProps<Data> {
  readonly of: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** What a query has found; until then that it loads, or why there is nothing to see. */
export function Answer<Data>({ of: query, children }: AnswerProps<Data>) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && <Failure error={query.error} retry={query.refetch} isStale />}
        {children(query.data)}
      </>
    )
  }
  if (query.isError) return <Failure error={query.error} retry={query.refetch} />
  return (
    <div className="loading" role="status">
      Loading…
    </div>
  )
}

interface FailureProps {
  readonly error: unknown
  readonly retry?: () => void
  /** What was read before is shown below. */
  readonly isStale?: boolean
}

const HEADINGS: Readonly<Record<string, string>> = {
  insufficient_scope: 'This session may not see this',
  not_found: 'Not found',
  rate_limited: 'Too many requests',
}

/** Says what failed, with the request id that support asks for. */
export function Failure({ error, retry, isStale = false }: FailureProps) {
  const failure = error instanceof ApiFailure ? error : undefined
  const heading = HEADINGS[failure?.code ?? ''] ?? (isStale ? 'This may be out of date' : 'That did not work')
  return (
    <div className="notice bad" role="alert">
      <h2>{heading}</h2>
      <p>{textOf(error)}</p>
      {failure?.requestId && (
        <p className="quiet">
          Request <code>{failure.requestId}</code>
        </p>
      )}
      {retry && failure?.code !== 'insufficient_scope' && failure?.code !== 'not_found' && (
        <button type="button" onClick={() => retry()}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Where a list is empty: what would be here, and how to get it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
