import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Pager, PagerButtons, type Search, useFilters } from './filters.tsx'
import { Answer } from './page.tsx'
import { Table, type TableProps } from './table.tsx'

interface PageOf<Row> {
  readonly items: readonly Row[]
  readonly has_next_page: boolean
  readonly total?: number
}

const LIVE_MS = 2_000

/** The page of a list that the URL asks for, with its filters. While it is live, it is read again and again. */
export function useList<Found>(
  key: readonly unknown[],
  read: (search: Search) => Promise<Found>,
  isLive: (found: Found) => boolean = () => false,
) {
  const [search] = useFilters()
  return useQuery({
    queryKey: [...key, search],
    queryFn: () => read(search),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data !== undefined && isLive(state.data) && LIVE_MS,
  })
}

export interface ListProps<Row> extends Omit<TableProps<Row>, 'rows' | 'keyOf' | 'isBusy'> {
  readonly of: UseQueryResult<PageOf<Row>>
}

/** A page of a list, with the ways to the others. While other filters are read, nothing leads on from the rows before. */
export const List = <Row extends { readonly id: string }>({ of: found, ...table }: ListProps<Row>) => (
  <Answer of={found}>
    {({ items, has_next_page, total }) => (
      <>
        <Table {...table} rows={items} isBusy={found.isPlaceholderData} />
        <Pager next={has_next_page && !found.isPlaceholderData ? items.at(-1)?.id : undefined} total={total} />
      </>
    )}
  </Answer>
)

interface PartListProps<Row> extends Omit<TableProps<Row>, 'rows' | 'keyOf' | 'isBusy'> {
  /** The key of its queries. */
  readonly name: readonly string[]
  readonly read: (query: { readonly page: number }) => Promise<PageOf<Row>>
}

/** A list that is a part of a page: the URL does not say which of its pages is shown. */
export function PartList<Row extends { readonly id: string }>({ name, read, ...table }: PartListProps<Row>) {
  const [page, setPage] = useState(1)
  const found = useQuery({
    queryKey: [...name, page],
    queryFn: () => read({ page }),
    placeholderData: keepPreviousData,
  })
  return (
    <Answer of={found}>
      {({ items, has_next_page, total }) => (
        <>
          <Table {...table} rows={items} isBusy={found.isPlaceholderData} />
          {(page > 1 || has_next_page) && (
            <PagerButtons
              total={total}
              onFirst={page > 1 && (() => setPage(1))}
              onPrevious={page > 1 && (() => setPage(page - 1))}
              onNext={has_next_page && !found.isPlaceholderData && (() => setPage(page + 1))}
            />
          )}
        </>
      )}
    </Answer>
  )
}

const NONE: ReadonlySet<string> = new Set()

/** Rows of a list that are chosen, by id. On another page of it, or with other filters, none is. */
export function useChosen() {
  const page = JSON.stringify(useFilters()[0])
  const [of, setOf] = useState({ page, chosen: NONE })
  const choose = (chosen: ReadonlySet<string>) => setOf({ page, chosen })
  return [of.page === page ? of.chosen : NONE, choose] as const
}
