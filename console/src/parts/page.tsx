import { type ReactNode, useEffect } from 'react'

interface PageProps {
  readonly title: string
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode
  /** What is above the title: the list that this belongs to. */
  readonly above?: ReactNode
  readonly children: ReactNode
}

/** A page with its title, which the browser's tab has too. */
export function Page({ title, actions, above, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Commerce Back-Office`
  }, [title])
  return (
    <>
      <header className="page-head">
        <div>
          {above && <nav aria-label="Where this is">{above}</nav>}
          <h1>{title}</h1>
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A part of a page. */
export function Section({ title, actions, children }: Omit<PageProps, 'above'>) {
  return (
    <section className="card">
      <header className="head">
        <h2>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

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
