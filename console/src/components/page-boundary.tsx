import { Button, Code } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { texts } from '../texts/texts.ts'
import { EmptyState } from './loaded.tsx'
import { PageTitle } from './page-title.tsx'

const BROKEN = texts.components.brokenPage

interface Props {
  page: string
  children: ReactNode
}

/**
 * Shows a notice instead of a page that cannot be shown. Mostly a file of the page is gone, because the service was
 * updated after the console was opened; then loading the console again helps. Another page is tried anew.
 *
 * @param page the path of the page
 */
export class PageBoundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: null }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidUpdate({ page }: Props) {
    if (page !== this.props.page && this.state.error !== null) this.setState({ error: null })
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <div role="alert">
        <PageTitle title={BROKEN.title} />
        <EmptyState title={BROKEN.text}>
          <Button mt="sm" onClick={() => location.reload()}>
            {BROKEN.reload}
          </Button>
          <p lang="en">
            <Code>{String(error)}</Code>
          </p>
        </EmptyState>
      </div>
    )
  }
}
