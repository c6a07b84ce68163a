# PowerShell completion for svc (5.1 and newer). Where nothing is offered, PowerShell completes file names.
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  foreach ($line in @(& svc completion words "--current=$wordToComplete" '--' @typed 2>$null)) {
    if ($line.StartsWith(':')) { continue }
    $value, $about = $line -split "`t", 2
    $about = if ($about) { $about } else { $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
