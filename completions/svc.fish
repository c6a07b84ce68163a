# fish completion for svc (fish 3 and newer)
function __svc_complete
    set -l current (commandline -ct)
    set -l typed (commandline -opc)
    set -l offers (svc completion words "--current=$current" -- $typed[2..-1] 2>/dev/null </dev/null)
    if contains -- :files $offers
        __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
    else
        string join \n -- $offers
    end
end
complete -c svc -f -a '(__svc_complete)'
