import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Act } from '../../parts/action.tsx'
import { List, type ListProps, useChosen } from '../../parts/list.tsx'
import { Empty, Page } from '../../parts/page.tsx'
import { Runbook } from './runbook.tsx'

interface RecordsPageProps<Row> extends Pick<ListProps<Row>, 'of' | 'label' | 'columns'> {
  readonly title: string
  readonly verb: string
  readonly question?: string
  readonly questionOfAll: string
  readonly action: {
    readonly isPending: boolean
    mutate(ids: readonly string[] | undefined, then: { onSuccess: () => void }): void
  }
  /** The section of the runbooks that says what to do. */
  readonly runbook: string
  readonly filters?: ReactNode
}

/** Records that went wrong, and what sends those that are chosen, or all, again. */
export function RecordsPage<Row extends { readonly id: string }>(props: RecordsPageProps<Row>) {
  const { title, verb, question, questionOfAll, action, runbook, filters, ...list } = props
  const [chosen, setChosen] = useChosen()
  const send = (ids?: readonly string[]) => action.mutate(ids, { onSuccess: () => setChosen(new Set()) })
  return (
    <Page
      title={title}
      above={<Link to="/operators/system">System</Link>}
      actions={
        <>
          <Act
            disabled={chosen.size === 0}
            isBusy={action.isPending}
            question={question}
            onAct={() => send([...chosen])}
          >
            {chosen.size === 0 ? verb : `${verb} ${chosen.size}`}
          </Act>
          <Act isBusy={action.isPending} question={questionOfAll} onAct={() => send()}>
            {verb} all
          </Act>
        </>
      }
    >
      {filters}
      <List {...list} chosen={chosen} onChoose={setChosen} empty={<Empty title={`No ${list.label.toLowerCase()}`} />} />
      <Runbook section={runbook} />
    </Page>
  )
}
