@echo off
if exist "%~dp0python.exe" ("%~dp0python.exe" "%~dp0skc" %*) else (python "%~dp0skc" %*)
