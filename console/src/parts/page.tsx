import type { UseQueryResult } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiFailure, sentTextOf, textOf } from '../api/failure.ts'
import { Dialogs } from './dialog.tsx'

interface PageProps<Data> {
  readonly title: string
  /** What is read for it, which `children` then get. */
  readonly of?: UseQueryResult<Data>
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode
  /** What is above the title: the list that this belongs to. */
  readonly above?: ReactNode
  readonly children: ReactNode | ((data: Data) => ReactNode)
}

/** The path of the page that was shown last. */
let lastPath: string | undefined

/** Leads the focus to the title of a page that somebody goes to: it would stay at the link that was clicked. */
function useFocusedTitle() {
  const title = useRef<HTMLHeadingElement>(null)
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  useEffect(() => {
    if (lastPath !== undefined && lastPath !== path) title.current?.focus({ preventScroll: true })
    lastPath = path
  }, [path])
  return title
}

/** A page with its title, which the browser's tab has too, and its dialogs. */
export function Page<Data>({ title, of, actions, above, children }: PageProps<Data>) {
  const heading = useFocusedTitle()
  useEffect(() => {
    document.title = `${title} · Commerce Back-Office`
  }, [title])
  return (
    <Dialogs>
      <header className="page-head">
        <div>
          {above && <nav aria-label="Where this is">{above}</nav>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {typeof children === 'function' ? of && <Answer of={of}>{children}</Answer> : children}
    </Dialogs>
  )
}

interface SectionProps<Data> extends Omit<PageProps<Data>, 'above'> {
  /** It comes in the place of the button that was pressed: its title gets the focus. */
  readonly isFocused?: boolean | undefined
}

/** A part of a page. */
export function Section<Data>({ title, of, actions, isFocused, children }: SectionProps<Data>) {
  return (
    <section className="card">
      <header className="head">
        <h2 {...(isFocused && { ref: focus, tabIndex: -1 })}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {typeof children === 'function' ? of && <Answer of={of}>{children}</Answer> : children}
    </section>
  )
}

const focus = (element: HTMLElement | null) => element?.focus({ preventScroll: true })

/** Names and values; those without a value are left out. */
export function Facts({ of: facts }: { readonly of: Readonly<Record<string, ReactNode>> }) {
  const shown = Object.entries(facts).filter(
    ([, value]) => value !== undefined && value !== null && value !== false && value !== '',
  )
  return (
    <dl className="facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface AnswerProps<Data> {
  readonly of: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** What a query has found; until then that it loads, or why there is nothing to see. */
export function Answer<Data>({ of: query, children }: AnswerProps<Data>) {
  if (query.data !== undefined) {
    return (
      <>
        <Unread of={query} />
        {children(query.data)}
      </>
    )
  }
  if (query.isError) return <Unread of={query} />
  return (
    <div className="loading" role="status">
      Loading…
    </div>
  )
}

/** Why a query has found nothing, or nothing new; nothing unless it failed. A choice has it beside what it offers. */
export const Unread = ({ of: { isError, error, refetch, data } }: { readonly of: UseQueryResult }) =>
  isError && <Failure error={error} retry={refetch} isStale={data !== undefined} />

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

/** Why what was sent was refused; nothing unless it was. */
export const Refusal = ({ of: error }: { readonly of: unknown }) =>
  error ? (
    <p className="notice bad" role="alert">
      {sentTextOf(error)}
    </p>
  ) : null

/** Where a list is empty: what would be here, and how to get it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  )
}
